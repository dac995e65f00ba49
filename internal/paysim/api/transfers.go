package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// transferBody asks for a bank transfer. Which member is there decides the method of payment; this service has one.
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

// otherMethods are those that the interface knows and this service has not.
type otherMethods struct {
	Ideal *struct{} `json:"idealTransaction"`
	ECP   *struct{} `json:"ecpTransaction"`
	SEPA  *struct{} `json:"sepaDirectDebitTransaction"`
	ACSS  *struct{} `json:"acssDirectDebitTransaction"`
	BECS  *struct{} `json:"becsDirectDebitTransaction"`
	Local *struct{} `json:"localBankTransferTransaction"`
	Purse *struct{} `json:"paypalTransaction"`
}

func (o otherMethods) any() bool { return o != otherMethods{} }

// transferView is a bank transfer as the interface shows it.
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
	Transfer              struct {
		URL       string `json:"sofortUrl"`
		ReturnURL string `json:"returnUrl"`
	} `json:"sofortTransaction"`
}

type processingView struct {
	Status string `json:"processingStatus"`
}

func (d *door) registerTransfers() {
	d.path("/services/2/alt-transactions", map[string]operation{http.MethodPost: d.createTransfer})
	d.path("/services/2/alt-transactions/{id}", map[string]operation{http.MethodGet: d.readTransfer})
	d.path("/services/2/alt-transactions/resolve", map[string]operation{http.MethodGet: d.resolveTransfer})
}

// createTransfer answers with where the shopper is to be sent.
func (d *door) createTransfer(r *request) (answer, error) {
	asked, err := readTransfer(r)
	if err != nil {
		return answer{}, err
	}
	t, err := d.service.CreateTransfer(asked)
	return d.shown(t, err)
}

// readTransfer reads the body: 20020 when it asks for another method, 20021 and 20022 when it names two payers or none.
func readTransfer(r *request) (paysim.TransferRequest, error) {
	body := transferBody{}
	if err := r.decode(&body); err != nil {
		return paysim.TransferRequest{}, err
	}
	if body.otherMethods.any() {
		return paysim.TransferRequest{}, refusal(http.StatusBadRequest, "20020", "INVALID_ALT_TRANSACTION_TYPE", "the only method is sofortTransaction")
	}
	if body.Payer != nil && body.VaultedShopperID != 0 {
		return paysim.TransferRequest{}, refusal(http.StatusBadRequest, "20021", "MULTI_SHOPPER_INFORMATION", "payerInfo or vaultedShopperId, not both")
	}
	if body.Payer == nil && body.VaultedShopperID == 0 {
		return paysim.TransferRequest{}, refusal(http.StatusBadRequest, "20022", "MISSING_SHOPPER_INFORMATION", "payerInfo or vaultedShopperId is required")
	}
	asked := paysim.TransferRequest{
		Currency: body.Currency, ReturnURL: body.ReturnURL, VaultedShopperID: body.VaultedShopperID,
		MerchantTransactionID: body.MerchantTransactionID, SoftDescriptor: body.SoftDescriptor,
	}
	if body.Transfer != nil && body.Transfer.ReturnURL != "" {
		asked.ReturnURL = body.Transfer.ReturnURL
	}
	if body.Payer != nil {
		if missing := body.Payer.lacks(); missing != "" {
			return asked, &paysim.Refusal{
				Status: http.StatusBadRequest, Code: "20023", Name: "MISSING_PAYER_INFO_FIELDS",
				Description: "payerInfo is not complete", Property: "payerInfo." + missing,
			}
		}
		asked.Payer = body.Payer.shopper()
	}
	var err error
	asked.Amount, err = body.Amount.required("amount")
	return asked, err
}

// readTransfer answers by the number of an approved transaction, or by the merchant's own number and, after a comma, the
// merchant's.
func (d *door) readTransfer(r *request) (answer, error) {
	id := r.PathValue("id")
	if merchants, _, both := strings.Cut(id, ","); both {
		return d.shown(d.service.TransferByMerchantID(merchants))
	}
	return d.shown(d.service.TransferByTransaction(id))
}

// resolveTransfer answers by the order number, which the shopper brings back from the bank.
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

// shown is a transfer, or why there is none, as an answer.
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
