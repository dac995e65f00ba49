package payments

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// TaxQuoteRequest asks what tax is due.
type TaxQuoteRequest struct {
	Currency       string    `json:"currency"`           // ISO 4217, upper case
	ShipTo         Address   `json:"shipTo"`             // what the tax follows
	ShipFrom       *Address  `json:"shipFrom,omitempty"` // nil: the merchant's address
	Lines          []TaxLine `json:"lines"`              // at least one
	RequestDate    string    `json:"requestDate,omitempty"`
	IdempotencyKey string    `json:"-"` // "": one is made, which a later call cannot repeat
}

// Address is where something is shipped to or from.
type Address struct {
	Address string `json:"address,omitempty"`
	City    string `json:"city,omitempty"`
	State   string `json:"state,omitempty"` // required where states levy the tax
	Zip     string `json:"zip,omitempty"`
	Country string `json:"country,omitempty"` // two letters
}

// TaxLine is an item to be taxed.
type TaxLine struct {
	ItemCode    string `json:"itemCode"`              // unique in the request
	Description string `json:"description,omitempty"` // required by the service
	TaxCode     string `json:"taxCode"`               // the product tax code that the service's operator assigned
	Quantity    int64  `json:"quantity"`              // 1 or more
	Amount      Amount `json:"amount"`                // of the whole line, not of one piece, without tax
}

// TaxedLine is an item with its tax. Merchants do well to keep it: a partial refund needs the tax of what comes back.
type TaxedLine struct {
	TaxLine
	Tax Amount `json:"tax"` // on Amount, not in it
}

// TaxQuote is what the service answers: the request completed, and the tax (specification section 2.1).
type TaxQuote struct {
	TaxReference string      `json:"taxReference"` // what later requests carry
	Currency     string      `json:"currency"`
	Lines        []TaxedLine `json:"lines"`
	TotalTax     Amount      `json:"totalTax"`     // of all lines, with fees of delivery
	TotalAmount  Amount      `json:"totalAmount"`  // without tax
	TotalTaxable Amount      `json:"totalTaxable"` // the part of TotalAmount that is taxed
	TotalExempt  Amount      `json:"totalExempt"`  // the part that is not
	Status       string      `json:"status"`       // Saved, Committed
	Used         bool        `json:"used"`         // a transaction was sent with it: it does not expire any more
	CompanyID    ID          `json:"companyId"`
	ShipTo       Address     `json:"shipTo"`      // normalized
	ShipFrom     Address     `json:"shipFrom"`    // the merchant's address if none was told
	RequestDate  string      `json:"requestDate"` // a text for people
	TaxVatType   string      `json:"taxVatType"`  // TAX, VAT
	VatCode      string      `json:"vatCode"`     // with VAT only

	CreatedAt time.Time `json:"-"` // when this client asked for it; zero for a quote that was read
}

func (q *TaxQuote) missing() string {
	switch {
	case q.TaxReference == "":
		return "taxReference"
	case q.TotalTax.IsZero():
		return "totalTax"
	}
	return ""
}

// Total returns what to charge: the amount and the tax on it.
func (q TaxQuote) Total() Amount { return q.TotalAmount.Add(q.TotalTax) }

// Reference returns what later requests take, with the age of the quote.
func (q TaxQuote) Reference() QuoteReference {
	return QuoteReference{ID: q.TaxReference, CreatedAt: q.CreatedAt, Used: q.Used}
}

// QuoteReference links a request with a tax quote. A reference that knows when its quote was created is refused, before
// anything is sent, once that is 24 hours ago; one that was only read somewhere goes unchecked. It is a string in JSON.
type QuoteReference struct {
	ID        string    // taxReference; "" for none
	CreatedAt time.Time // zero: not known
	Used      bool      // a transaction was sent with it: it does not expire any more
}

// IsZero tells whether there is no reference.
func (q QuoteReference) IsZero() bool { return q.ID == "" }

// MarshalJSON writes the taxReference alone.
func (q QuoteReference) MarshalJSON() ([]byte, error) { return json.Marshal(q.ID) }

// CreateTaxQuote asks what tax is due on a purchase (specification section 1). The quote is good for 24 hours.
func (c *Client) CreateTaxQuote(ctx context.Context, request TaxQuoteRequest) (TaxQuote, error) {
	if err := request.check(); err != nil {
		return TaxQuote{}, err
	}
	asked := c.config.Now() // before it is sent: the quote is younger
	quote, err := create[TaxQuote](ctx, c, "create the tax quote", prefix+c.config.QuotePath, request.IdempotencyKey, request)
	if err == nil {
		quote.CreatedAt = asked
	}
	return quote, err
}

// check tells what no tax can be calculated of.
func (r TaxQuoteRequest) check() error {
	if err := first(checkCurrency(r.Currency), wrong(r.ShipTo.Country == "", "country", "is required"),
		wrong(len(r.Lines) == 0, "lines", "at least one is required")); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for _, line := range r.Lines {
		if err := first(
			checkAmount("amount", line.Amount),
			wrong(line.ItemCode == "", "itemCode", "is required"),
			wrong(seen[line.ItemCode], "itemCode", "must be unique in the request"),
			wrong(line.TaxCode == "", "taxCode", "is required"),
			wrong(line.Quantity < 1, "quantity", "must be 1 or more"),
		); err != nil {
			return err
		}
		seen[line.ItemCode] = true
	}
	return nil
}

// TaxQuote reads a quote again. What is read does not know its age, but whether it was used, after which age is nothing.
func (c *Client) TaxQuote(ctx context.Context, taxReference string) (TaxQuote, error) {
	if err := checkID("taxReference", taxReference); err != nil {
		return TaxQuote{}, err
	}
	return ask[TaxQuote](ctx, c, call{operation: "read the tax quote", method: http.MethodGet,
		path: prefix + c.config.QuotePath + "/" + taxReference, repeat: always, quoted: true})
}
