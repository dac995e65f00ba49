package finance

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Transfers is where bank transfers are found, with what shoppers brought back from their bank.
type Transfers interface {
	// Transfers returns at most q.Limit bank transfers, newest first, or ipn.ErrUnavailable.
	Transfers(ctx context.Context, q ipn.TransferQuestion) ([]ipn.Transfer, error)
}

// registerTransfers adds the list of bank transfers, whose troubles are work lists.
func (o *Office) registerTransfers(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "list-transfers", Method: http.MethodGet, Path: "/api/v1/transfers", Tags: []string{"books"}, Metadata: access.Needs(access.See),
		Summary: "List the bank transfers, newest first, with what the shopper brought back from the bank",
		Description: "A return is what a shopper's browser brought (specification section 2.7): nobody signed it, and no money is booked by it. It belongs to the IPN " +
			"whose referenceNumber is its TRANSACTION-ID, or, without one, to the only transaction with its merchantTransactionId. trouble gives the work lists; each begins after 15 minutes, " +
			"in which a bank decides (specification section 3.2). Nobody says whether a return is of a test order: until its IPN comes it stands in both books.",
	}, o.listTransfers)
}

type transfersQuery struct {
	BookQuery
	Trouble string `query:"trouble" enum:"return_without_ipn,ipn_without_return,pending" doc:"Only these"`
	Days    int    `query:"days" default:"30" minimum:"1" maximum:"366" doc:"How many days to look back"`
	Cursor  string `query:"cursor" maxLength:"8192" doc:"nextCursor of the page before"`
	Limit   int    `query:"limit" default:"50" minimum:"1" maximum:"1000"`
}

type transfersPage struct {
	Body struct {
		Items      []TransferView `json:"items"`
		NextCursor string         `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last page"`
	}
}

// TransferView is a bank transfer as the API and the page show it.
type TransferView struct {
	ipn.Transfer
	Amount   *string `json:"amount" doc:"Of the event; null where there is none"`
	Sentence string  `json:"sentence,omitempty" doc:"The trouble in words"`
}

// TransfersAsked is what the list of bank transfers is asked for, by the API and by the page.
type TransfersAsked struct {
	Trouble ipn.TransferTrouble
	Test    bool
	Days    int
	Cursor  string
	Limit   int
}

func (o *Office) listTransfers(ctx context.Context, in *transfersQuery) (*transfersPage, error) {
	page := &transfersPage{}
	var err error
	page.Body.Items, page.Body.NextCursor, err = o.ListTransfers(ctx, TransfersAsked{
		Trouble: ipn.TransferTrouble(in.Trouble), Test: in.test(), Days: in.Days, Cursor: in.Cursor, Limit: in.Limit})
	return page, err
}

// transfersPlace is where a page of bank transfers ended, and when the first one was asked for: the troubles of all pages are
// those of one moment.
type transfersPlace struct {
	Now   time.Time
	After ipn.TransferPosition
}

// ListTransfers returns a page of bank transfers, and the cursor of the next one, "" on the last. Errors are fit to be shown.
func (o *Office) ListTransfers(ctx context.Context, asked TransfersAsked) ([]TransferView, string, error) {
	const kind = "transfers"
	bound := asked
	bound.Cursor, bound.Limit = "", 0
	place := transfersPlace{Now: o.now()}
	q := ipn.TransferQuestion{Trouble: asked.Trouble, Test: asked.Test, Methods: o.TransferMethods, Limit: asked.Limit + 1}
	if asked.Cursor != "" {
		if err := o.resume(ctx, kind, bound, asked.Cursor, &place); err != nil {
			return nil, "", err
		}
		q.After = &place.After
	}
	q.Now, q.Since = place.Now, place.Now.AddDate(0, 0, -asked.Days)
	found, err := o.Transfers.Transfers(ctx, q)
	if err != nil {
		return nil, "", problem(err)
	}
	found, next, err := turn(ctx, o, kind, bound, found, asked.Limit, func(t *ipn.Transfer) transfersPlace {
		return transfersPlace{Now: place.Now, After: t.Position()}
	})
	if err != nil {
		return nil, "", err
	}
	views := make([]TransferView, len(found))
	for i, t := range found {
		views[i] = TransferView{Transfer: t, Amount: amountOrNull(t.Amount), Sentence: t.Trouble.Sentence()}
	}
	return views, next, nil
}
