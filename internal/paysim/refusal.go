package paysim

import (
	"fmt"
	"net/http"
)

// Refusal is an error that the interface documents: what the service answers instead of doing it.
// Value holds only what may be shown: never a card number or a security code.
type Refusal struct {
	Status      int    // of HTTP, for whoever answers in HTTP
	Code        string // such as 14002; "" for what has no documented code
	Name        string // such as INSUFFICIENT_FUNDS
	Description string // a sentence for people, in words of its own: nobody can match the real one's text
	Property    string // the field that is to blame, if one is
	Value       string // what it held
	FraudRule   string // of the rule that refused it, if one did
}

// Error implements error. It leaves out what the field held.
func (r *Refusal) Error() string {
	return fmt.Sprintf("%d %s %s: %s", r.Status, r.Code, r.Name, r.Description)
}

const bad = http.StatusBadRequest

// refusals are the documented codes that the service and the rooms before it answer with, and their
// one text. The specification leaves errors open (section 7): codes and most names are those that
// are documented beside it; where only a code is known, the name is made by the same pattern. The
// status is 400 unless something else is documented. Code 14002 has many names, for which see
// declined.
var refusals = map[string]Refusal{
	"7":     {Status: http.StatusForbidden, Name: "INVALID_TRANSACTION_TYPE", Description: "the transaction type is not one of this operation"},
	"30":    {Status: bad, Name: "MISSING_SHOPPER_OR_CARD_HOLDER", Description: "a card holder or a vaulted shopper is required"},
	"85":    {Status: http.StatusMethodNotAllowed, Name: "INVALID_HTTP_METHOD", Description: "this comes by another method"},
	"90":    {Status: bad, Name: "MISSING_CARD_TYPE", Description: "a card is required"},
	"300":   {Status: bad, Name: "EXTERNAL_TAX_SERVICE_ERROR", Description: "the tax quote is unknown, or older than 24 hours"},
	"10000": {Status: http.StatusInternalServerError, Name: "SERVER_GENERAL_FAILURE", Description: "the service could not do it"},
	"10001": {Status: bad, Name: "VALIDATION_GENERAL_FAILURE", Description: "the value is not valid here"},
	"13001": {Status: bad, Name: "CURRENCY_CODE_NOT_FOUND", Description: "the currency is unknown"},
	"14004": {Status: bad, Name: "REFUND_GENERAL_FAILURE", Description: "the transaction cannot be refunded in the state it is in"},
	"14005": {Status: bad, Name: "AMOUNT_BELOW_MINIMUM", Description: "the amount is below the minimum"},
	"14006": {Status: bad, Name: "AMOUNT_ABOVE_MAXIMUM", Description: "the largest amount is 9999999999.99"},
	"14007": {Status: bad, Name: "REFUND_PERIOD_EXPIRED", Description: "the transaction is older than two years"},
	"14009": {Status: bad, Name: "INVOICE_ALREADY_REFUNDED", Description: "earlier refunds have left less than this amount"},
	"14011": {Status: bad, Name: "PAYMENT_METHOD_NOT_SUPPORTED", Description: "cards of this brand are not taken"},
	"14022": {Status: bad, Name: "INVOICE_ALREADY_FULLY_REFUNDED", Description: "nothing is left to refund"},
	"14051": {Status: bad, Name: "REFUND_TAX_AMOUNT_REQUIRED", Description: "the charge was taxed: the refund must tell its tax part, even zero"},
	"14052": {Status: bad, Name: "REFUND_NEGATIVE_TAX_AMOUNT", Description: "the tax part is negative"},
	"14053": {Status: bad, Name: "REFUND_TAX_AMOUNT_EXCEEDS_ALLOWED_REFUNDABLE", Description: "the tax part is more than the tax that is left to refund"},
	"14054": {Status: bad, Name: "REFUND_TAX_AMOUNT_EXCEEDS_REFUND_AMOUNT", Description: "the tax part is more than the refund"},
	"14055": {Status: bad, Name: "REFUND_NET_AMOUNT_EXCEEDS_ALLOWED_REFUNDABLE", Description: "the refund without its tax part is more than what is left to refund"},
	"15008": {Status: bad, Name: "SHOPPER_NOT_FOUND", Description: "there is no such shopper"},
	"16001": {Status: bad, Name: "MISSING_ARGUMENTS", Description: "something required is missing"},
	"20002": {Status: bad, Name: "MULTIPLE_TRANSACTIONS_FOUND", Description: "several transactions have this merchant transaction id"},
	"20005": {Status: bad, Name: "TRANSACTION_NOT_AUTHORIZED", Description: "the transaction is not an authorization that waits"},
	"20007": {Status: bad, Name: "TRANSACTION_EXPIRED", Description: "the authorization is too old"},
	"20008": {Status: bad, Name: "TRANSACTION_ID_REQUIRED", Description: "a transaction id is required"},
	"20009": {Status: http.StatusNotFound, Name: "INVALID_TRANSACTION_ID", Description: "there is no such transaction"},
	"20010": {Status: bad, Name: "TRANSACTION_ALREADY_CAPTURED", Description: "the transaction was captured before"},
	"20020": {Status: bad, Name: "INVALID_ALT_TRANSACTION_TYPE", Description: "the only method is sofortTransaction"},
	"20021": {Status: bad, Name: "MULTI_SHOPPER_INFORMATION", Description: "payerInfo or vaultedShopperId, not both"},
	"20022": {Status: bad, Name: "MISSING_SHOPPER_INFORMATION", Description: "payerInfo or vaultedShopperId is required"},
	"20023": {Status: bad, Name: "MISSING_PAYER_INFO_FIELDS", Description: "payerInfo is not complete"},
	"20026": {Status: bad, Name: "MISMATCH_SUBSCRIPTION_CURRENCY", Description: "the subscription is in another currency"},
	"20035": {Status: bad, Name: "SOFORT_UNSUPPORTED_PAYMENT_INFO", Description: "there are no such bank transfers"},
	"24019": {Status: bad, Name: "UNKNOWN_COUNTRY_CODE", Description: "the country is unknown"},
	"26001": {Status: bad, Name: "NEGATIVE_PAGE_SIZE", Description: "the page size must be above zero"},
	"26002": {Status: bad, Name: "MAX_PAGE_SIZE_EXCEEDED", Description: "the page size is at most 500"},
	"43003": {Status: bad, Name: "MISSING_MANDATORY_ARGUMENT", Description: "something required is missing"},
	"43004": {Status: bad, Name: "REDUNDANT_ITEM_CODE_ELEMENT", Description: "two lines have the same item code"},
	"43006": {Status: bad, Name: "UNEXPECTED_ARGUMENT", Description: "this is not for the caller to say"},
	"43008": {Status: bad, Name: "TAX_REFERENCE_MISMATCH_CURRENCY", Description: "the tax quote is in another currency"},
	"43009": {Status: bad, Name: "TAX_REFERENCE_UNEXPECTED_TOTAL_PAYMENT", Description: "the amount is not the total of the tax quote"},
	"43010": {Status: bad, Name: "TAX_REFERENCE_ALREADY_USED", Description: "another transaction was authorized with the tax quote"},
	"50106": {Status: bad, Name: "UNKNOWN_STATE_CODE", Description: "the state is unknown"},
	"60101": {Status: http.StatusUnprocessableEntity, Name: "IDEMPOTENCY_KEY_REUSED", Description: "this key came with another request"},
	"60102": {Status: http.StatusConflict, Name: "IDEMPOTENCY_REQUEST_RUNNING", Description: "the first request with this key is still running"},
	"60103": {Status: bad, Name: "IDEMPOTENCY_KEY_TOO_LONG", Description: "an idempotency key has at most 64 characters"},
	"60104": {Status: bad, Name: "IDEMPOTENCY_KEY_INVALID_CHARACTERS", Description: "an idempotency key has letters, digits and hyphens"},
	"90009": {Status: http.StatusNotFound, Name: "SUBSCRIPTION_NOT_FOUND", Description: "there is no such subscription"},
}

// Refuse returns the refusal of a code, which blames a field and tells what it holds; both may be
// "". The field is named as the interface writes it, with its path: "creditCard.cardNumber". It is
// a copy that the caller may change, in its description say, where a case can be told better than a
// code. A code that is not in the table is a mistake in the program, and panics.
func Refuse(code, property, value string) *Refusal {
	r, known := refusals[code]
	if !known {
		panic("no refusal has the code " + code)
	}
	r.Code, r.Property, r.Value = code, property, value
	return &r
}

// declined returns the refusal of a bank: code 14002, told apart by its name only. Who was refused
// may try another card; the description does not say why, as a bank would not.
func declined(name string) *Refusal {
	return &Refusal{Status: bad, Code: "14002", Name: name, Description: "the payment was refused by the processor"}
}
