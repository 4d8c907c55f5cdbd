// SPDX-License-Identifier: Apache-2.0
// Moves a synopsis' page through its cuts. All numbers are in the page; words are written as text, never as markup.
"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const slider = find("k");
  if (!slider) return;
  const data = JSON.parse(find("cuts").textContent);
  const dots = [...find("points").children];
  const leaves = [...find("leaves").children];
  let cut = null;
  let line = null; // of descent of the cluster that is looked at: it stays the same from cut to cut

  const make = (name, words, attributes = {}) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (words !== null) made.textContent = words;
    return made;
  };

  const drawMap = () => {
    const marks = find("marks");
    marks.innerHTML = cut.marks; // numbers of the page's own maker, no words from outside
    for (const mark of marks.querySelectorAll("[data-label]")) {
      const cluster = cut.clusters[mark.dataset.label];
      mark.setAttribute("tabindex", "0");
      mark.setAttribute("role", "button");
      mark.setAttribute("aria-label", `Cluster ${cluster.label}: ${cluster.rows}`);
    }
    cut.owners.forEach((owner, index) => {
      const colour = cut.clusters[owner].colour;
      dots[index].setAttribute("class", `${dots[index].classList[0]} c${colour}`);
      leaves[index].setAttribute("class", `leaf c${colour}`);
    });
  };

  const drawCurveAndTree = () => {
    const marker = find("curve-at");
    if (marker) {
      marker.setAttribute("visibility", cut.curveAt === null ? "hidden" : "visible");
      if (cut.curveAt !== null) marker.setAttribute("transform", `translate(${cut.curveAt} 0)`);
    }
    const below = Math.max(data.brackets.length + 1 - cut.k, 0);
    find("above").setAttribute("d", data.brackets.slice(below).join(""));
    find("below").setAttribute("d", data.brackets.slice(0, below).join(""));
    find("tree-at").setAttribute("transform", `translate(0 ${cut.treeAt})`);
  };

  const chipOf = (cluster) => {
    const chip = make("button", null, {
      type: "button", class: `chip c${cluster.colour}`, "data-label": cluster.label, "aria-pressed": "false",
    });
    chip.append(make("b", cluster.label), " ", make("span", cluster.rows));
    if (cluster.stability) chip.append(" ", make("small", `stability ${cluster.stability}`));
    const item = make("li", null);
    item.append(chip);
    return item;
  };

  const cellOf = (cluster, place, narrow) => {
    const [kind, short, full] = cluster.cells[place];
    const sign = /[234]$/.test(kind) ? (kind.startsWith("up") ? "+" : "\u2212") : "";
    const title = `Cluster ${cluster.label}, ${data.names[place]}: ${full}`;
    return make("td", narrow ? sign : short, { class: kind, title });
  };

  const headOf = (words, scope, colour) => {
    const head = make("th", null, { scope, title: words });
    head.append(make("span", words, colour === undefined ? {} : { class: `tag c${colour}` }));
    return head;
  };

  const drawProfiles = () => {
    const table = find("profile");
    const down = data.clustersDown;
    const narrow = !down && cut.k > data.withValues;
    table.setAttribute("class", narrow ? "profile narrow" : "profile");
    const first = make("tr", null);
    const heads = down
      ? data.names.map((one) => headOf(one, "col"))
      : cut.clusters.map((one) => headOf(one.label, "col", one.colour));
    first.append(make("th", down ? "Cluster" : "Column", { scope: "col" }), ...heads);
    const lineOf = (name, cells, colour) => {
      const row = make("tr", null);
      row.append(headOf(name, "row", colour), ...cells);
      return row;
    };
    const rows = down
      ? cut.clusters.map((one) => lineOf(one.label, data.names.map((_, place) => cellOf(one, place, narrow)), one.colour))
      : data.names.map((name, place) => lineOf(name, cut.clusters.map((one) => cellOf(one, place, narrow))));
    table.tHead.replaceChildren(first);
    table.tBodies[0].replaceChildren(...rows);
  };

  const flowOf = (words, flows, k) => {
    const text = make("p", `${words} `);
    for (const [label, rows] of flows) {
      const other = data.cuts[k - 1].clusters[label];
      const button = make("button", null, { type: "button", class: `c${other.colour}`, "data-k": k, "data-label": label });
      button.append(make("b", `cluster ${label}`), `: ${rows} ${data.counted}`);
      text.append(button);
    }
    return text;
  };

  const splitWords = (cluster) => {
    if (cluster.to === null) return `${cut.k} is the largest number on this page.`;
    if (cluster.to.length === 0) return `None of its points is left at k = ${cut.k + 1}.`;
    const stays = cluster.to.length === 1;
    return stays ? `At k = ${cut.k + 1} it does not split; all its rows are in` : `At k = ${cut.k + 1} it splits into`;
  };

  const showSelected = () => {
    const cluster = line === null ? undefined : cut.clusters.find((one) => one.line === line);
    const label = cluster ? cluster.label : -1;
    for (const one of document.querySelectorAll("#chips [data-label]")) {
      one.setAttribute("aria-pressed", String(Number(one.dataset.label) === label));
    }
    for (const one of document.querySelectorAll("#marks [data-label]")) {
      one.classList.toggle("on", Number(one.dataset.label) === label);
      one.setAttribute("aria-pressed", String(Number(one.dataset.label) === label));
    }
    dots.forEach((dot, index) => dot.classList.toggle("on", cut.owners[index] === label));
    find("map").classList.toggle("picked", Boolean(cluster));
    const panel = find("split");
    panel.classList.toggle("idle", !cluster);
    if (!cluster) {
      panel.replaceChildren(make("p", "Choose a cluster to see how it splits, and where it came from."));
      return;
    }
    const stability = cluster.stability ? `, stability ${cluster.stability}` : "";
    const parts = [make("p", `Cluster ${cluster.label} of ${cut.k}: ${cluster.rows}${stability}.`)];
    parts.push(cluster.to && cluster.to.length ? flowOf(splitWords(cluster), cluster.to, cut.k + 1) : make("p", splitWords(cluster)));
    if (cluster.from && cluster.from.length) parts.push(flowOf(`At k = ${cut.k - 1} its rows were in`, cluster.from, cut.k - 1));
    panel.replaceChildren(...parts);
  };

  const show = (k) => {
    cut = data.cuts[k - 1];
    slider.value = k;
    find("state").textContent = cut.words;
    find("back").disabled = k === data.chosen;
    find("chips").replaceChildren(...cut.clusters.map(chipOf));
    drawMap();
    drawCurveAndTree();
    drawProfiles();
    showSelected();
  };

  const choose = (label, again) => {
    const found = cut.clusters[label].line;
    line = again && line === found ? null : found;
    showSelected();
  };

  const chosenBy = (event) => event.target.closest("[data-label]");
  slider.addEventListener("input", () => show(Number(slider.value)));
  find("back").addEventListener("click", () => { show(data.chosen); slider.focus(); });
  find("chips").addEventListener("click", (event) => chosenBy(event) && choose(chosenBy(event).dataset.label, true));
  find("marks").addEventListener("click", (event) => chosenBy(event) && choose(chosenBy(event).dataset.label, true));
  find("marks").addEventListener("keydown", (event) => {
    if (!chosenBy(event) || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    choose(chosenBy(event).dataset.label, true);
  });
  find("split").addEventListener("click", (event) => {
    const button = chosenBy(event);
    if (!button) return;
    show(Number(button.dataset.k));
    choose(button.dataset.label, false);
    document.querySelector(`#chips [data-label="${button.dataset.label}"]`).focus();
  });

  document.documentElement.classList.add("live");
  find("map").setAttribute("role", "group");
  show(data.chosen);
})();
