// Package ledger keeps the books: from the log of events it derives what moved (movements), where each payment stands
// (transactions), and how its subscriptions and disputes fare.
//
// Its one decision that is not obvious: a book is never moved forward by the event that came in. It is folded anew from
// the whole set of events that belong to it, in the order in which they happened. The sender promises no order and no
// single delivery, so a refund may precede its charge and a verdict its dispute; a fold over the set gives one state
// for every order of arrival, can be done again at any time, and makes a rebuild the same work as the daily one. The
// price is to read a payment's few events again with each new one.
//
// The folds (order, movements, transactions, subscriptions, disputes) are pure: no clock, no database. What a type of
// event means to the books is one row of one table, in order.go. The SQL stands apart.
package ledger
