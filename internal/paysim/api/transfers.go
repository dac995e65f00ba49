package api

import (
	"net/http"
	"strconv"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// transferBody asks for a bank transfer (specification section 2.7). Which of the methods' members
// is there decides the method of payment; this service has one.
type transferBody struct {
	Amount                amount          `json:"amount"`
	Currency              string          `json:"currency"`
	MerchantTransactionID string          `json:"merchantTransactionId"`
	SoftDescriptor        string          `json:"softDescriptor"`
	VaultedShopperID      int64           `json:"vaultedShopperId"`
	Payer                 *payerInfo      `json:"payerInfo"`
	ReturnURL             string          `json:"returnUrl"` // here, as the specification shows it, or in the method's object
	Transfer              *transferMethod `json:"sofortTransaction"`
	otherMethods
}

// transferMethod is the method's object; its language is taken and changes nothing.
type transferMethod struct {
	ReturnURL string `json:"returnUrl"`
	Language  string `json:"language"`
}

// otherMethods are those that the interface knows and this service has not. What is in their
// objects is not looked at.
type otherMethods struct {
	Ideal *struct{} `json:"idealTransaction"`
	ECP   *struct{} `json:"ecpTransaction"`
	SEPA  *struct{} `json:"sepaDirectDebitTransaction"`
	ACSS  *struct{} `json:"acssDirectDebitTransaction"`
	BECS  *struct{} `json:"becsDirectDebitTransaction"`
	Local *struct{} `json:"localBankTransferTransaction"`
	Purse *struct{} `json:"paypalTransaction"`
}

// any reports whether one of them is asked for.
func (o otherMethods) any() bool { return o != otherMethods{} }

// transferView is a bank transfer as the interface shows it: bankTransferUrl of specification
// section 2.7, and the members that are documented beside it. The first answer and every later one
// have the same members.
type transferView struct {
	OrderID               int64          `json:"orderId"`
	TransactionID         string         `json:"transactionId,omitempty"` // once approved
	Amount                money.Amount   `json:"amount"`
	USDAmount             money.Amount   `json:"usdAmount"`
	Currency              string         `json:"currency"`
	SoftDescriptor        string         `json:"softDescriptor,omitempty"`
	VaultedShopperID      int64          `json:"vaultedShopperId"`
	MerchantTransactionID string         `json:"merchantTransactionId,omitempty"`
	Payer                 payerInfo      `json:"payerInfo"`
	Processing            processingView `json:"processingInfo"`
	Fraud                 struct{}       `json:"fraudResultInfo"`
	BankTransferURL       string         `json:"bankTransferUrl"`
	Transfer              struct {       // the method's object, as it came, with the bank's address under its wire name
		URL       string `json:"sofortUrl"`
		ReturnURL string `json:"returnUrl"`
	} `json:"sofortTransaction"`
}

// processingView is how far a bank transfer has come.
type processingView struct {
	Status string `json:"processingStatus"` // PENDING, SUCCESS or FAIL
}

// registerTransfers serves bank transfers (specification section 4) under the name that the
// interface has for all ways to pay without a card.
func (d *door) registerTransfers() {
	d.path("/services/2/alt-transactions", map[string]operation{http.MethodPost: d.createTransfer})
	d.path("/services/2/alt-transactions/{id}", map[string]operation{http.MethodGet: d.readTransfer})
	d.path("/services/2/alt-transactions/resolve", map[string]operation{http.MethodGet: d.resolveTransfer})
}

// createTransfer answers 200 with where the shopper is to be sent (specification section 4, rule
// 6). The transfer is pending until they have been there.
func (d *door) createTransfer(r *request) (answer, error) {
	asked, err := transferIn(r)
	if err != nil {
		return answer{}, err
	}
	t, err := d.service.CreateTransfer(asked)
	return d.shown(t, err)
}

// transferIn reads the body of a request, and refuses what it lacks or has too much of: see check,
// 16001 without an amount. A return URL in the method's object counts before one on top.
func transferIn(r *request) (asked paysim.TransferRequest, err error) {
	body := transferBody{}
	if err := r.decode(&body); err != nil {
		return asked, err
	}
	if err := body.check(); err != nil {
		return asked, err
	}
	asked = paysim.TransferRequest{
		Currency: body.Currency, ReturnURL: body.ReturnURL, VaultedShopperID: body.VaultedShopperID,
		MerchantTransactionID: body.MerchantTransactionID, SoftDescriptor: body.SoftDescriptor,
	}
	if body.Transfer != nil && body.Transfer.ReturnURL != "" {
		asked.ReturnURL = body.Transfer.ReturnURL
	}
	if body.Payer != nil {
		asked.Payer = body.Payer.shopper()
	}
	asked.Amount, err = body.Amount.required("amount")
	return asked, err
}

// check refuses a request for another method (20020), one that names two payers (20021) or none
// (20022), and a payer who is not told wholly (20023).
func (b transferBody) check() error {
	switch {
	case b.otherMethods.any():
		return paysim.Refuse("20020", "", "")
	case b.Payer != nil && b.VaultedShopperID != 0:
		return paysim.Refuse("20021", "", "")
	case b.Payer == nil && b.VaultedShopperID == 0:
		return paysim.Refuse("20022", "", "")
	case b.Payer != nil && b.Payer.lacks() != "":
		return paysim.Refuse("20023", "payerInfo."+b.Payer.lacks(), "")
	}
	return nil
}

// readTransfer answers by the number of an approved transaction, or by the merchant's own (see
// ownNumber), which finds one that is still pending, too.
func (d *door) readTransfer(r *request) (answer, error) {
	id := r.PathValue("id")
	if own, told := ownNumber(id); told {
		return d.shown(d.service.TransferByMerchantID(own))
	}
	return d.shown(d.service.TransferByTransaction(id))
}

// resolveTransfer answers by the order number, which the shopper brings back from the bank
// (specification section 2.7, ORDER-ID): 16001 without one, 10001 for one that is no number, 20009
// when there is no such order. It is how a merchant checks the return query, which nobody has
// signed.
func (d *door) resolveTransfer(r *request) (answer, error) {
	text := r.URL.Query().Get("orderId")
	if text == "" {
		return answer{}, missing("orderId")
	}
	orderID, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return answer{}, invalid("orderId", text, "it must be a number")
	}
	return d.shown(d.service.Transfer(orderID))
}

// shown is a transfer, or why there is none, as an answer. The bank's address stands in it twice:
// on top, as the specification has it, and in the method's object, as others have seen it; clients
// must take either.
func (d *door) shown(t paysim.Transfer, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	view := transferView{
		OrderID: t.OrderID, TransactionID: t.TransactionID, Amount: t.Amount, USDAmount: paysim.USD(t.Amount, t.Currency),
		Currency: t.Currency, SoftDescriptor: t.SoftDescriptor, VaultedShopperID: t.Payer.ID,
		MerchantTransactionID: t.MerchantTransactionID, Payer: payerOf(t.Payer), Processing: processingView{Status: t.Status},
		BankTransferURL: d.service.BankURL(t.OrderID),
	}
	view.Transfer.URL, view.Transfer.ReturnURL = view.BankTransferURL, t.ReturnURL
	return answer{Body: view}, nil
}
