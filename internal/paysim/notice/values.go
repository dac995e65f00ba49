package notice

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// values says what fields hold, by name. A name that is not in it is empty on the wire.
type values map[string]string

// values says what the sale's notices of all types have in common. The order of the subjects must stay: each draws from the
// sale's chance, so that another order is another sample of every seed, and another golden.
func (s sale) values() values {
	said := make(values, 160) // names there are; it need not grow
	for _, f := range s.person.Fields() {
		said[f.Name] = f.Value
	}
	for _, subject := range []func() values{
		s.event, s.visit, s.goods, s.sums, s.means, s.answers, s.reversal, s.contract, s.cardNews, s.accountNews, s.merchant,
	} {
		maps.Copy(said, subject())
	}
	return said
}

// event is what happened, when, and under which numbers. The reference is that of the charge: what happens to a charge later
// carries the number of the charge, and its own beside it.
func (s sale) event() values {
	opened := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() + s.random.Int64N(1e11)
	return values{
		"transactionDate":       Date(s.at),
		"untilDate":             s.renewalDate(),
		"referenceNumber":       s.reference(),
		"merchantTransactionId": s.number("order-", 6),
		"offlineOrderId":        s.number("44", 6),
		"testMode":              "N", // in the sandbox too
		"targetBalance":         "MERCHANT_ACCOUNT",
		"accountId":             s.account(),
		"username":              strconv.FormatInt(opened, 10) + s.digits(20), // too long for a number
	}
}

// visit is how the shopper came. The pages hold access tokens, which a receiver must not show: real ones do. One of them is
// spelt in two ways by different types.
func (s sale) visit() values {
	return values{
		"language":           s.person.Language,
		"templateId":         pick(s, []string{"0", "-1", "1042"}),
		"referrer":           pick(s, []string{"", "", "https://blog.example.com/?a=1&b=two words"}),
		"invoiceInfoURL":     s.page("info"),
		"invoiceURL":         s.page("invoice"),
		"invoiceUrl":         s.page("invoice"),
		"shopperOrderUrl":    s.page("order"),
		"shopperAdminUrl":    s.page("admin"),
		"originalRequestUrl": "https://shop.example.com/checkout?basket=" + s.digits(6),
	}
}

// goods is what was bought. A licence key may be a line feed and nothing else, as it was seen on the wire.
func (s sale) goods() values {
	return values{
		"productId":           s.plan.product,
		"productName":         s.plan.called,
		"contractId":          s.plan.contract,
		"contractName":        s.plan.name,
		"contractOwner":       "410022",
		"quantity":            strconv.FormatInt(s.pieces, 10),
		"addCD":               "N",
		"coupon":              "N",
		"licenseKey":          pick(s, []string{"\n", ""}),
		"recurringDisclaimer": s.yes(2),
		"promoteContractsNum": strconv.Itoa(len(s.further)),
		"custom1":             "blue",
		"custom3":             "42",
	}
}

// sums is the money: what was charged, in the shopper's currency, and the same in dollars. The tax is part of both totals,
// while the price of a piece is without it. invoiceAmount is an older name and always in dollars, whatever currency says.
func (s sale) sums() values {
	currency, usd := s.person.Currency, s.totalUSD.String()
	return values{
		"contractPrice":         s.unitUSD.String(),
		"contractChargePrice":   s.unit.String(),
		"contractLocalPrice":    s.unit.String(),
		"overridePrice":         "0.00",
		"currency":              currency,
		"amount":                s.total.String(),
		"invoiceAmount":         usd,
		"invoiceAmountUSD":      usd,
		"invoiceChargeAmount":   s.total.String(),
		"invoiceChargeCurrency": currency,
		"invoiceLocalAmount":    s.total.String(),
		"invoiceLocalCurrency":  currency,
		"taxAmountUSD":          s.taxUSD.String(),
		"taxChargeAmount":       s.tax.String(),
		"taxRate":               money.Percent(s.person.TaxRate),
	}
}

// means is the card as far as an IPN tells it: never more than the first six digits and the last four. The month of the
// expiry comes with a leading zero or without.
func (s sale) means() values {
	return values{
		"paymentMethod":            "CC",
		"paymentType":              "CC",
		"creditCardType":           s.card.brand,
		"cardSubType":              s.card.group,
		"cardCategory":             s.card.category,
		"creditCardLastFourDigits": s.card.last,
		"creditCardExpDate":        pick(s, []string{"", "0"}) + s.expiry(2),
		"binCategory":              s.card.class,
		"binNumber":                s.card.bin,
		"regulatedCard":            s.yes(3),
		"cardIssuingOrg":           "Bank of Example",
		"cardIssuingCountry":       strings.ToLower(s.person.Country), // unlike all other countries
	}
}

// expiry is a month of one digit and a year, some years ahead.
func (s sale) expiry(years int) string {
	return fmt.Sprintf("%d/%d", 1+s.seed%9, s.at.Year()+years)
}

// answers are what card scheme and bank said. Some sentences of theirs end in a space.
func (s sale) answers() values {
	return values{
		"cvvSent":       "Y",
		"cvvResponse":   "The security code matches",
		"avsSent":       "Y",
		"avsResponse":   pick(s, []string{"Street and postal code match ", "The postal code matches, the street does not ", "The issuer does not check addresses "}),
		"3DStatus":      pick(s, []string{"3DS Not Enabled", "AUTHENTICATION_SUCCEEDED", "AUTHENTICATION_UNAVAILABLE"}),
		"3dStatus":      "AUTHENTICATION_FAILED",
		"declineReason": pick(s, []string{"Payment was returned by the bank", "Refused after review"}),
		"failureReason": pick(s, []string{"Insufficient funds", "Card has expired", "Do not honor"}),
	}
}

// reversal is of the whole sale or of half of it; the sender writes such amounts with a minus and without.
func (s sale) reversal() values {
	amount, full := s.total, s.yes(2)
	if full == "N" {
		amount = amount.Share(50_00, s.person.Currency)
	}
	return values{
		"reversalAmount": pick(s, []string{"", "-"}) + amount.String(),
		"reversalReason": pick(s, []string{"Per your instructions", "Wrong colour; sent back", "Ordered twice"}),
		"reversalRefNum": s.number("9", 9),
		"fullRefund":     full,
		"arn":            "74537605131" + s.number("", 12),
	}
}

// contract is the subscription: the plan, what it began with, and the plan that one changes to.
func (s sale) contract() values {
	return values{
		"subscriptionId":      s.subscription(),
		"originalRefNum":      s.reference(),
		"originalInvoiceId":   s.reference(),
		"cancelReason":        pick(s, []string{"CANCELLED_BY_SELLER", "CANCELLED_BY_SHOPPER"}),
		"cancelledContractId": s.plan.contract,
		"resultCode":          "SUCCESS",
		"reminderNumber":      "1",
		"daysTillPayment":     "7",
		"oldContractId":       s.plan.contract, // contractId is the old one too
		"oldContractName":     s.plan.name,
		"oldProductId":        s.plan.product,
		"oldProductName":      s.plan.called,
		"newContractId":       s.plan.next,
		"newContractName":     s.plan.nextName,
		"newProductId":        s.plan.product,
		"newProductName":      s.plan.called,
	}
}
