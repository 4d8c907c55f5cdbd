# SPDX-License-Identifier: Apache-2.0
"""The ledger: a budget that pays before an answer is computed, in memory or in a SQLite file that processes share.

A ledger is one append-only table of JSON lines. Each line carries the SHA-256 digest of itself and the line before, so an edit
anywhere shows. The kinds of line are

- ``budget``: the first line; the total guarantee and the neighbouring relation it is about;
- ``reserve``: a fit sets aside its whole budget at once, so that two fits cannot each spend half and both be refused;
- ``debit``: one event, written and flushed to disk before its answer is computed;
- ``close``: the fit is over; what it reserved but did not debit is free again. It may have been settled from outside, once its
  process was gone.

The lines of a fit carry the day on which it reserved its budget and no time of day: how long an answer took says something
about the rows. An open account counts with all it reserved. So a process that is killed leaves a ledger that says more was
spent than was answered, never less, until its account is settled.
"""

import os
import uuid
from pathlib import Path
from typing import Any, Unpack

from cloister import validate
from cloister.columns import Neighbours, Relation, as_neighbours
from cloister.exceptions import LedgerError
from cloister.privacy._account import Account, settle
from cloister.privacy._accounting import Tally
from cloister.privacy._events import Event, event_from_line, today
from cloister.privacy._guarantees import Cost, Guarantee
from cloister.privacy._ledger_state import (
    STATED,
    LedgerState,
    Terms,
    balance_of,
    checked_terms,
    first_line,
    refuse_larger_delta,
    refuse_unless_it_fits,
)
from cloister.privacy._ledger_store import LedgerStore, ledger_path
from cloister.privacy._process import PROCESS
from cloister.privacy._receipt import LedgerBalance


class Ledger:
    """A privacy budget that many fits share.

    Parameters
    ----------
    budget : PureDP, ApproxDP, ZCDP or GDP, optional
        The total. `epsilon` and `delta` are the shortcut.
    epsilon, delta : float, optional
        The total as (epsilon, delta); ``delta=0`` is pure differential privacy.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Which tables count as neighbours. A fit under the other relation is refused.
    unit : {"row", "person"}, default="row"
        Whom the budget protects. Fits with ``privacy_unit=`` protect a person with all of their rows, others one row; a ledger
        of the other kind refuses them.
    name : str, default=""
        What the budget is for; printed with it.
    planned : bool, default=False
        Whether kind and cost of every fit are fixed before the first answer. Then Gaussian and pure fits that share an
        (epsilon, delta) budget are composed more tightly, with `dp-accounting`. Leave it off if results may decide what is
        fitted next.
    pure_epsilon : float, default=0.0
        The part of an (epsilon, delta) budget that is set aside for pure fits (``delta=0``); Gaussian fits share the rest.
        With 0, a pure fit beside Gaussian ones counts as the Gaussian fit it is equivalent to, which is expensive: set a part
        aside if you plan fits of both kinds.

    Notes
    -----
    **Privacy.** The total holds for everything debited here together, also when later fits depend on earlier results. One
    ledger should cover one table of people; Cloister cannot know whether two tables hold the same ones. A ledger lists
    questions and how noisy their answers were, never an answer. A clone of a ledger is the ledger itself; a pickled copy of
    a ledger in memory is closed to debits, one in a file opens the same file.

    Examples
    --------
    >>> ledger = Ledger(epsilon=1.0, delta=1e-6)
    >>> ledger.budget
    ApproxDP(epsilon=1.0, delta=1e-06)
    >>> round(ledger.left, 3)
    1.0
    """

    _store: LedgerStore

    def __init__(
        self,
        budget: Guarantee | None = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        neighbours: str = "add-remove",
        unit: str = "row",
        name: str = "",
        planned: bool = False,
        pure_epsilon: float = 0.0,
    ) -> None:
        terms = Terms(epsilon=epsilon, delta=delta, neighbours=neighbours, unit=unit, name=name)
        first = first_line(budget, **terms, planned=planned, pure_epsilon=pure_epsilon)
        self._store = LedgerStore(None)
        self._store.write_first(first)
        self._store.refresh()

    @classmethod
    def create(cls, path: str | os.PathLike[str], budget: Guarantee | None = None, **terms: Unpack[Terms]) -> "Ledger":
        """Create a ledger in a new file. A file that exists is never replaced: a budget is granted once.

        Parameters
        ----------
        path : str or path
            Where there is no file yet, on a local disk: network file systems often do not lock.
        budget, **terms
            As for the class.

        Returns
        -------
        Ledger
            Open for debits.

        Raises
        ------
        LedgerError
            If there is a file already, or none can be written there.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "budget.sqlite"
        ...     with Ledger.create(path, epsilon=2.0, delta=1e-6) as ledger:
        ...         print(ledger.budget)
        epsilon = 2, delta = 1e-06
        """
        place = ledger_path(path)
        LedgerStore.create(place, first_line(budget, **terms))
        return cls.open(place)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        budget: Guarantee | None = None,
        *,
        checkpoint: str | None = None,
        **terms: Unpack[Terms],
    ) -> "Ledger":
        """Open the ledger in a file that exists; :meth:`create` makes one.

        Parameters
        ----------
        path : str or path
            The file.
        budget, **terms
            As for the class. All may be left out; what is given must be what the file says.
        checkpoint : str, optional
            What :attr:`checkpoint` said earlier. The ledger must still hold all it held then, so that lines cut off its
            end are found, too.

        Returns
        -------
        Ledger
            Open for debits.

        Raises
        ------
        LedgerError
            If the file is missing or empty, is no ledger, was altered, or says something else than was given.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "budget.sqlite"
        ...     Ledger.create(path, epsilon=2.0, delta=1e-6).close()
        ...     with Ledger.open(path, neighbours="add-remove") as ledger:
        ...         print(round(ledger.left, 6))
        2.0
        """
        given: dict[str, Any] = {word: value for word, value in terms.items() if value is not None}
        wanted = checked_terms(budget, **given)
        ledger = cls.__new__(cls)
        ledger._store = LedgerStore.open(ledger_path(path))
        try:
            ledger._store.refresh()
            for word, value in wanted.items():
                found = getattr(ledger, word)
                if value != found:
                    said, got = (str(found), str(value)) if word == "budget" else (repr(found), repr(value))
                    raise LedgerError(
                        f"Ledger.open: expected {word} as in the file ({said}), got {got}. "
                        "Leave it out, or open another ledger."
                    )
            if checkpoint is not None:
                ledger._store.check_against(checkpoint)
        except BaseException:
            ledger.close()
            raise
        return ledger

    # -- what a ledger says ---------------------------------------------------------------------------------------------

    @property
    def budget(self) -> Guarantee:
        """The total guarantee."""
        return self._store.state.budget

    @property
    def neighbours(self) -> str:
        """The neighbouring relation the budget is about."""
        return self._store.state.relation.value

    @property
    def unit(self) -> str:
        """Whom the budget protects: "row" or "person"."""
        return self._store.state.unit

    @property
    def name(self) -> str:
        """What the budget is for."""
        return self._store.state.name

    @property
    def planned(self) -> bool:
        """Whether all costs are fixed before the first answer."""
        return self._store.state.composition.planned

    @property
    def pure_epsilon(self) -> float:
        """The part of the budget that is set aside for pure fits."""
        return self._store.state.composition.pure_epsilon

    @property
    def path(self) -> Path | None:
        """The file, or None in memory."""
        return self._store.path

    @property
    def spent(self) -> Tally:
        """All that counts against the budget now: debits of closed accounts and reservations of open ones."""
        return self._store.refresh().spent()

    @property
    def left(self) -> float:
        """The largest further fit that is not refused, in the budget's terms: epsilon (at its delta), rho or mu.

        Of an (epsilon, delta) budget: the largest Gaussian fit; :attr:`left_pure` is the largest pure one.
        """
        return self._store.refresh().left()

    @property
    def left_pure(self) -> float:
        """The epsilon of the largest further pure fit (``delta=0``) that is not refused."""
        return self._store.refresh().left(pure=True)

    @property
    def checkpoint(self) -> str:
        """The number of the last line and its digest. Keep it elsewhere: ``Ledger.open(path, checkpoint=...)`` finds a cut."""
        return self._store.refresh().checkpoint

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Every line, oldest first, as plain data; the chain of digests is checked on the way."""
        return self._store.lines()

    @property
    def events(self) -> list[Event]:
        """Every debit, oldest first."""
        return [event_from_line(line) for line in self.lines if line["kind"] == "debit"]

    def summary(self) -> dict[str, Any]:
        """Return budget, spending and accounts as plain data."""
        state = self._store.refresh()
        composition = state.composition
        return {
            "name": state.name,
            "budget": state.budget.to_dict(),
            "neighbours": state.relation.value,
            "unit": state.unit,
            "planned": composition.planned,
            "pure_epsilon": composition.pure_epsilon,
            "spent": state.spent().describe(state.budget, composition=composition),
            "left": state.left(),
            "left_pure": state.left(pure=True),
            "digest": state.digest,
            "checkpoint": state.checkpoint,
            "accounts": [account.to_dict(state.budget, composition) for account in state.accounts.values()],
        }

    # -- what a ledger does ---------------------------------------------------------------------------------------------

    def reserve(
        self,
        cost: Cost,
        *,
        purpose: str,
        relation: Relation | Neighbours,
        delta: float = 0.0,
        dataset: str = "",
        stated_purpose: str = "",
    ) -> "Account":
        """Set aside `cost` for one fit and return the account it debits.

        `purpose` is the name of the method, `delta` the one that the fit's guarantee states; `dataset` and `stated_purpose`
        are what the user says of data and purpose.

        Raises
        ------
        BudgetExceeded
            If it does not fit into what is left; nothing is written then.
        LedgerError
            If the relation, what is protected, or the column that tells persons apart is not the ledger's, or `delta` is
            above the ledger's.
        """
        identity, near = uuid.uuid4().hex[:12], as_neighbours(relation)
        lease = self._store.leases.new(identity)
        if not isinstance(cost, Cost):
            validate.refuse("Ledger.reserve", "GDP or PureDP", cost, remedy="Pass guarantee.noise_budget().")

        def line(state: LedgerState) -> dict[str, Any]:
            if near.relation is not state.relation:
                raise LedgerError(
                    f"Ledger.reserve: this ledger is about {state.relation.value!r} neighbours, the fit about "
                    f"{near.value!r}. Pass neighbours={state.relation.value!r} or another ledger."
                )
            if near.unit != state.unit:
                remedy = "Pass privacy_unit=" if near.privacy_unit is None else "Leave privacy_unit= out"
                raise LedgerError(
                    f"Ledger.reserve: this ledger protects one {state.unit}, the fit one {near.unit}. {remedy}, or pass a "
                    f"ledger that was created with unit={near.unit!r}."
                )
            privacy_unit = "" if near.privacy_unit is None else near.privacy_unit.name
            known = next((one.stated["privacy_unit"] for one in state.accounts.values() if "privacy_unit" in one.stated), "")
            if privacy_unit and known and privacy_unit != known:
                raise LedgerError(
                    f"Ledger.reserve: this ledger knows persons by {known!r}, the fit by {privacy_unit!r}. "
                    f"Pass privacy_unit={known!r}, or another ledger: a budget protects one kind of person."
                )
            refuse_larger_delta(state, delta)
            refuse_unless_it_fits(state, cost)
            lease.take()
            own = {"kind": "reserve", "when": today(), "account": identity, "purpose": purpose, "cost": cost.to_dict()}
            given = zip(STATED, (dataset, stated_purpose, privacy_unit), strict=True)
            return {**own, **{name: words for name, words in given if words}}

        try:
            self._store.append(line)
        except BaseException:
            lease.release()
            raise
        return Account(self._store, identity, lease)

    def settle(self, account: str | None = None, *, force: bool = False) -> tuple[str, ...]:
        """Close accounts whose process is gone: from then on they count with what they debited, not with all they reserved.

        A fit that ends, also by an error, closes its account. One that was killed leaves it open.

        Parameters
        ----------
        account : str, optional
            Its name in the ledger; left out, all open accounts whose process is known to be gone.
        force : bool, default=False
            Close `account` even if its process may still run. Such a fit fails at its next question, before that is answered.

        Returns
        -------
        tuple of str
            The accounts that were closed.

        Raises
        ------
        LedgerError
            If `account` is none of this ledger's or, without `force`, its process still runs or nobody can say.

        Notes
        -----
        **Privacy.** Every answer was debited before it existed, so what was debited covers all that left; and a debit of a
        closed account is refused in the transaction that would write it. Whether a process runs is known from a lock beside
        the file, which the operating system drops when the process ends. A ledger in memory knows its own accounts. In a
        ledger with ``planned=True`` an account that debited anything counts with all it reserved, settled or not.

        Examples
        --------
        >>> from cloister.columns import Relation
        >>> from cloister.privacy import PureDP
        >>> ledger = Ledger(epsilon=1.0, delta=0.0)
        >>> lost = ledger.reserve(PureDP(0.4), purpose="KMeans", relation=Relation.ADD_REMOVE)
        >>> del lost
        >>> len(ledger.settle()), ledger.left
        (1, 1.0)
        """
        return settle(self._store, account, force=validate.boolean("Ledger.settle.force", force))

    def set_default(self) -> None:
        """Have every fit of this process that is passed no ``ledger=`` debit this ledger, until :meth:`clear_default`.

        Notes
        -----
        **Privacy.** Fits whose relation or privacy unit is not the ledger's are refused, as with ``ledger=``. Worker processes
        that are started afresh, as by ``n_jobs=2`` of scikit-learn's searches, do not inherit the default: pass them
        ``ledger=``, with a ledger in a file. In forked processes a ledger in a file is shared, and one in memory takes no
        debits.

        Examples
        --------
        >>> from cloister import KMeans
        >>> ledger = Ledger(epsilon=2.0, delta=1e-6)
        >>> ledger.set_default()
        >>> model = KMeans(2, epsilon=1.0, bounds=(0, 1)).fit([[0.2], [0.8]])
        >>> Ledger.clear_default()
        >>> round(ledger.left, 2)
        1.67
        """
        PROCESS.default = self

    @staticmethod
    def clear_default() -> None:
        """Have no ledger pay for fits that are passed none; what was debited stays debited."""
        PROCESS.default = None

    def balance(self, account: str) -> LedgerBalance:
        """Return where an account, given by its name, stands: what was spent before it, its own part, and what is left."""
        state = self._store.refresh()
        if account not in state.accounts:
            raise LedgerError(
                f"Ledger.balance: expected an account of this ledger, got {account!r}. Pass the account of a receipt."
            )
        return balance_of(state, account)

    def close(self) -> None:
        """Close the file; what was debited stays debited."""
        self._store.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        place = "memory" if self.path is None else self.path.name
        return f"<Ledger {self.name!r} in {place}: {self.budget}>"

    # One identity: a copy that could spend the same budget again must not exist.
    def __sklearn_clone__(self) -> "Ledger":
        return self

    def __copy__(self) -> "Ledger":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Ledger":
        return self
