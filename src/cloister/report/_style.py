# SPDX-License-Identifier: Apache-2.0
"""The report's style sheet: light and dark, phone and paper. No font, picture or script comes from outside the file."""

__all__ = ["STYLE"]

STYLE = """
:root { color-scheme: light dark;
  --paper: #fdfdfb; --ink: #1c2126; --soft: #565f69; --line: #d5dae0; --wash: #f3f4f1; --accent: #1d5b8f; --pale: #b9cfe2;
  --alert: #8a3b00; --alert-wash: #fdf1e4;
  --h1: #dfeaf4; --h2: #bfd6ea; --h3: #9ac0de; --h4: #71a6cf; --h5: #4788bb; --h6: #2268a1; --h7: #0c4375; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #15181b; --ink: #e5e8eb; --soft: #a3adb7; --line: #363d45; --wash: #1d2125; --accent: #7db6e8; --pale: #2f4f6b;
  --alert: #ffc48a; --alert-wash: #35271a;
  --h1: #20303f; --h2: #2b465e; --h3: #385f81; --h4: #4a7ba6; --h5: #6399c7; --h6: #8bb9e0; --h7: #c3dff5; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.55;
  font-family: Charter, "Bitstream Charter", "Sitka Text", Cambria, "Liberation Serif", Georgia, serif; font-size: 1.0625rem; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
p, ul { max-width: 42rem; margin: 0 0 0.9rem; }
ul { padding-left: 1.2rem; }
li { margin-bottom: 0.3rem; }
h1 { font-size: clamp(1.7rem, 5vw, 2.4rem); line-height: 1.15; font-weight: 600; margin: 0.2rem 0 0.6rem; text-wrap: balance; }
h2 { font-size: 1.35rem; font-weight: 600; margin: 2.6rem 0 0.7rem; padding-top: 0.7rem; border-top: 1px solid var(--line); }
h3, .over, .facts dt, th, td, figcaption, summary, .small, svg text, footer {
  font-family: "Helvetica Neue", Helvetica, Arial, "Liberation Sans", "Noto Sans", sans-serif; }
h3 { font-size: 0.95rem; font-weight: 600; margin: 1.8rem 0 0.4rem; }
.over { font-size: 0.8rem; letter-spacing: 0.04em; color: var(--soft); margin: 0; }
.lead { font-size: 1.15rem; }
.small, figcaption { font-size: 0.85rem; line-height: 1.45; color: var(--soft); max-width: 46rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 0.9rem 1.5rem; margin: 1.6rem 0 0;
  padding: 1rem 0 0; border-top: 2px solid var(--ink); }
.facts dt { font-size: 0.78rem; color: var(--soft); }
.facts dd { margin: 0.1rem 0 0; font-size: 1.3rem; line-height: 1.25; font-variant-numeric: lining-nums tabular-nums; }
.facts dd small { display: block; font-size: 0.85rem; color: var(--soft); }
.alert { border-left: 4px solid var(--alert); background: var(--alert-wash); padding: 0.8rem 1rem; margin: 1.5rem 0 0; }
.alert b { color: var(--alert); }
.alert p:last-child { margin: 0; }
.scroll { overflow-x: auto; margin: 0.8rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; }
th { font-weight: 600; text-align: left; vertical-align: bottom; }
th, td { padding: 0.4rem 1.1rem 0.4rem 0; border-bottom: 1px solid var(--line); }
thead th { border-bottom: 1px solid var(--ink); }
th small, td small { font-weight: 400; color: var(--soft); font-size: 0.78rem; }
th small { display: block; }
td.n { text-align: right; white-space: nowrap; }
th.n { text-align: right; }
.centres { width: 100%; }
.centres th, .centres td { min-width: 8.2rem; white-space: nowrap; }
.centres th:first-child { min-width: 3.6rem; position: sticky; left: 0; background: var(--paper); z-index: 1; }
.centres th span { display: inline-block; max-width: 12rem; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; }
.centres tbody th { vertical-align: top; }
.centres tbody tr:hover td, .centres tbody tr:hover th { background: var(--wash); }
.words td, .words th { white-space: normal; vertical-align: top; }
.words td:first-child { min-width: 12rem; }
svg { display: block; }
.strip { width: 100%; height: 16px; margin-top: 2px; }
.strip path { vector-effect: non-scaling-stroke; fill: none; }
.rule { stroke: var(--line); stroke-width: 1; fill: none; }
.other { stroke: var(--soft); stroke-width: 1; opacity: 0.55; }
.whisker { stroke: var(--ink); stroke-width: 1.6; fill: none; }
.dot { stroke: var(--accent); stroke-width: 7.5; stroke-linecap: round; }
.bar { stroke: var(--pale); stroke-width: 9; }
figure { margin: 1rem 0; }
.side { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 1fr); gap: 1.8rem; align-items: end; }
figcaption p { margin: 0 0 0.5rem; }
.map, .meter, .chart { width: 100%; height: auto; }
.map { max-width: 40rem; background: var(--wash); }
.meter { max-width: 30rem; }
.bubble { fill: var(--accent); fill-opacity: 0.24; stroke: var(--accent); stroke-width: 1.4; }
.hollow { fill: none; stroke: var(--accent); stroke-width: 1.4; stroke-dasharray: 2 2; }
.map .whisker { stroke-width: 1.2; opacity: 0.75; }
svg text { fill: var(--ink); font-size: 13px; }
svg .axis { fill: var(--soft); font-size: 12px; }
svg .name { font-weight: 700; paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }
.served { stroke: var(--soft); stroke-width: 2.6; stroke-linecap: round; opacity: 0.45; fill: none; }
.source path { fill: var(--alert); fill-opacity: 0.3; stroke: var(--alert); stroke-width: 1.2; }
.track { stroke: var(--line); stroke-width: 6; stroke-linecap: round; }
.reach { stroke: var(--accent); stroke-width: 6; stroke-linecap: round; }
.pin { stroke: var(--ink); stroke-width: 2.5; }
.meter .value { font-weight: 700; }
.panels { display: grid; grid-template-columns: repeat(4, 1fr); gap: 1rem; }
.panels + p { margin-top: 1rem; }
.panels figure { margin: 0; }
.panel { width: 100%; height: auto; background: var(--wash); }
.silent { stroke: var(--soft); stroke-width: 1.6; stroke-linecap: round; opacity: 0.6; }
.voted circle { fill: var(--accent); fill-opacity: 0.4; }
.cross { stroke: var(--ink); stroke-width: 1.7; fill: none; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 1rem 2.5rem; }
.pair figure { margin: 0; }
.pale { fill: var(--pale); } .full { fill: var(--accent); }
.line { stroke: var(--accent); stroke-width: 1.5; fill: none; }
.dots { stroke: var(--accent); stroke-width: 6; stroke-linecap: round; fill: none; }
.heat { width: 100%; max-width: 40rem; height: auto; }
.heat .h1 { fill: var(--h1); } .heat .h2 { fill: var(--h2); } .heat .h3 { fill: var(--h3); } .heat .h4 { fill: var(--h4); }
.heat .h5 { fill: var(--h5); } .heat .h6 { fill: var(--h6); } .heat .h7 { fill: var(--h7); }
.heat .edge { fill: none; stroke: var(--soft); stroke-width: 1; }
.badge { fill: var(--paper); stroke: var(--ink); stroke-width: 1.6; }
.pair3 { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); gap: 1.4rem 1.8rem; }
.pair3 figure { margin: 0; }
.stem { stroke: var(--ink); stroke-width: 1.6; stroke-dasharray: 4 3; fill: none; }
.ring { fill: none; stroke: var(--ink); stroke-width: 2; }
.open { fill: var(--paper); stroke: var(--accent); stroke-width: 1.5; }
.even { stroke: var(--soft); stroke-width: 1.3; stroke-dasharray: 3 3; fill: none; }
details { margin: 0.8rem 0; }
summary { cursor: pointer; font-size: 0.9rem; color: var(--accent); }
code { font-family: ui-monospace, Menlo, Consolas, "Liberation Mono", monospace; font-size: 0.88em; overflow-wrap: anywhere; }
footer { margin-top: 3rem; padding-top: 0.8rem; border-top: 1px solid var(--line); font-size: 0.8rem; color: var(--soft); }
@media (max-width: 46rem) { main { padding-top: 1.5rem; } body { font-size: 1rem; }
  svg text { font-size: 16px; } svg .axis { font-size: 15px; }
  .panels { grid-template-columns: repeat(2, 1fr); gap: 0.7rem; } .facts { grid-template-columns: 1fr 1fr; }
  .side { display: block; } .side figcaption { margin-top: 0.6rem; } }
@media print { :root { color-scheme: light; --paper: #fff; --ink: #000; --soft: #444; --line: #bbb; --wash: #fff;
    --accent: #1d5b8f; --pale: #b9cfe2; --alert: #8a3b00; --alert-wash: #fff;
    --h1: #dfeaf4; --h2: #bfd6ea; --h3: #9ac0de; --h4: #71a6cf; --h5: #4788bb; --h6: #2268a1; --h7: #0c4375; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { font-size: 10pt; } main { max-width: none; padding: 0; } h2 { break-after: avoid; margin-top: 1.6rem; }
  figure, tr, .facts, .alert { break-inside: avoid; } .scroll { overflow: visible; }
  .centres th, .centres td { min-width: 0; white-space: normal; } }
""".strip()
