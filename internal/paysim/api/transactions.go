package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

// transactionBody asks for a card transaction (specification section 2.2), or for the capture or
// the reversal of one (section 2.3).
type transactionBody struct {
	Type                  string      `json:"cardTransactionType"`
	TransactionID         string      `json:"transactionId"`
	SoftDescriptor        string      `json:"softDescriptor"`
	Amount                amount      `json:"amount"`
	Currency              string      `json:"currency"`
	TaxReference          string      `json:"taxReference"`
	MerchantTransactionID string      `json:"merchantTransactionId"`
	VaultedShopperID      int64       `json:"vaultedShopperId"` // 0: a new shopper, who is the holder
	Holder                *holderInfo `json:"cardHolderInfo"`   // nil: the vaulted shopper
	Card                  *cardBody   `json:"creditCard"`       // nil: the vaulted shopper's card of last time
	MetaData              metaData    `json:"transactionMetaData"`
}

// holderInfo is the card holder, in requests and answers. It is payerInfo but for the name of the
// street: the interface has two words for it.
type holderInfo struct {
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
	Zip       string `json:"zip,omitempty"`
	Country   string `json:"country,omitempty"` // two letters, lower case in answers
	State     string `json:"state,omitempty"`
	City      string `json:"city,omitempty"`
	Address   string `json:"address,omitempty"`
	Email     string `json:"email,omitempty"`
	Phone     string `json:"phone,omitempty"`
}

// shopper is the holder as the account will know them.
func (h holderInfo) shopper() paysim.Shopper {
	return paysim.Shopper{
		FirstName: h.FirstName, LastName: h.LastName, Zip: h.Zip, Country: h.Country, State: h.State, City: h.City,
		Address1: h.Address, Email: h.Email, Phone: h.Phone,
	}
}

// holderOf shows what the account knows of a holder, the country in lower case whatever case it
// came in.
func holderOf(s *paysim.Shopper) holderInfo {
	return holderInfo{
		FirstName: s.FirstName, LastName: s.LastName, Zip: s.Zip, Country: strings.ToLower(s.Country), State: s.State, City: s.City,
		Address: s.Address1, Email: s.Email, Phone: s.Phone,
	}
}

// metaData are fields that the merchant names; they come back in IPNs under these very names.
type metaData struct {
	Entries []metaEntry `json:"metaData"`
}

// metaEntry is one field; its description and visibility are taken and not looked at.
type metaEntry struct {
	Key   string `json:"metaKey"`
	Value string `json:"metaValue"`
}

// fields are the entries by name, nil when there are none; of two with one name the last counts.
func (m metaData) fields() map[string]string {
	if len(m.Entries) == 0 {
		return nil
	}
	fields := make(map[string]string, len(m.Entries))
	for _, e := range m.Entries {
		fields[e.Key] = e.Value
	}
	return fields
}

// metaDataOf shows the fields in the order of their names, nil when there are none.
func metaDataOf(fields map[string]string) *metaData {
	if len(fields) == 0 {
		return nil
	}
	m := &metaData{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		m.Entries = append(m.Entries, metaEntry{Key: name, Value: fields[name]})
	}
	return m
}

// registerTransactions serves card transactions (specification section 4). Money is moved by POST,
// and what is moved is changed by PUT: a capture by POST would otherwise be the classic mistake
// that nobody notices.
func (d *door) registerTransactions() {
	d.path("/services/2/transactions", map[string]operation{http.MethodPost: d.createTransaction, http.MethodPut: d.changeTransaction})
	d.path("/services/2/transactions/{id}", map[string]operation{http.MethodGet: d.readTransaction})
}

// createTransaction charges or reserves, and answers 200 with the transaction, also with one that
// waits for a review or a bank. What changes a transaction comes by PUT: 85.
func (d *door) createTransaction(r *request) (answer, error) {
	body := transactionBody{}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	// Told before anything is missed: who captures by POST has sent no amount, and would hear of
	// that instead.
	if _, changes := d.changes()[body.Type]; changes {
		return answer{}, paysim.Refuse("85", "cardTransactionType", body.Type)
	}
	asked, err := body.creation()
	if err != nil {
		return answer{}, err
	}
	return d.transaction(d.service.CreateTransaction(asked))
}

// creation is the request that a body makes; 16001 for what it lacks, 10001 and 14006 for what is
// no amount. Whether the rest can be, the service says.
func (b transactionBody) creation() (asked paysim.CardRequest, err error) {
	switch {
	case b.Type == "":
		return asked, missing("cardTransactionType")
	case b.Currency == "":
		return asked, missing("currency")
	}
	asked = paysim.CardRequest{
		Type: b.Type, Currency: b.Currency, TaxReference: b.TaxReference, SoftDescriptor: b.SoftDescriptor,
		MerchantTransactionID: b.MerchantTransactionID, VaultedShopperID: b.VaultedShopperID, Custom: b.MetaData.fields(),
	}
	if b.Holder != nil {
		asked.Holder = b.Holder.shopper()
	}
	if b.Card != nil {
		asked.Card = b.Card.card()
	}
	asked.Amount, err = b.Amount.required("amount")
	return asked, err
}

// changes are the transaction types that come by PUT, and what they do. A type that stands here is
// refused by POST.
func (d *door) changes() map[string]func(transactionBody) (paysim.Transaction, error) {
	return map[string]func(transactionBody) (paysim.Transaction, error){
		"CAPTURE": func(b transactionBody) (paysim.Transaction, error) {
			if err := d.wholeAmount(b); err != nil {
				return paysim.Transaction{}, err
			}
			return d.service.Capture(b.TransactionID, b.TaxReference)
		},
		"AUTH_REVERSAL": func(b transactionBody) (paysim.Transaction, error) {
			return d.service.ReverseAuthorization(b.TransactionID)
		},
	}
}

// changeTransaction captures or reverses an authorization, and answers 200 with the transaction as
// it is then. What moves money anew comes by POST: 85. A type that is none: 7.
func (d *door) changeTransaction(r *request) (answer, error) {
	body := transactionBody{}
	if err := r.decode(&body); err != nil {
		return answer{}, err
	}
	change, known := d.changes()[body.Type]
	switch {
	case body.Type == "":
		return answer{}, missing("cardTransactionType")
	case body.Type == "AUTH_CAPTURE" || body.Type == "AUTH_ONLY":
		return answer{}, paysim.Refuse("85", "cardTransactionType", body.Type)
	case !known:
		return answer{}, paysim.Refuse("7", "cardTransactionType", body.Type)
	}
	return d.transaction(change(body))
}

// wholeAmount refuses a partial capture with 10001 (specification section 8). The amount need not
// be told: it is no member of a capture (section 2.3), but a client that tells one believes in it,
// and must hear if it is wrong.
func (d *door) wholeAmount(b transactionBody) error {
	asked, err := b.Amount.optional("amount")
	if err != nil || asked == nil {
		return err
	}
	t, err := d.service.Transaction(b.TransactionID) // whose amount never changes, so it may be read before the capture
	if err != nil {
		return err
	}
	if *asked != t.Amount {
		return invalid("amount", asked.String(), "a capture is for the full authorized amount")
	}
	return nil
}

// readTransaction answers by the service's number, or by the merchant's own (see ownNumber).
func (d *door) readTransaction(r *request) (answer, error) {
	id := r.PathValue("id")
	if own, told := ownNumber(id); told {
		return d.transaction(d.service.TransactionByMerchantID(own))
	}
	return d.transaction(d.service.Transaction(id))
}

// ownNumber reads the last part of a path as a merchantTransactionId and, after a comma, the
// merchant's number, which is not looked at: there is one account. The last comma counts, as a
// merchantTransactionId may have one in it. False: there is no comma, so it is a number of the
// service.
func ownNumber(id string) (own string, told bool) {
	at := strings.LastIndexByte(id, ',')
	if at < 0 {
		return "", false
	}
	return id[:at], true
}

// transaction is a card transaction, or why there is none, as an answer. A bank transfer has a
// transaction as well, but at another path: 20009.
func (d *door) transaction(t paysim.Transaction, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	if t.Card.Number == "" {
		return answer{}, paysim.Refuse("20009", "transactionId", t.ID)
	}
	return answer{Body: transactionOf(t)}, nil
}
