package notice

import (
	"strconv"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// cardNews is what card schemes tell of a stored card: here, that it has a new expiry.
func (s sale) cardNews() values {
	month, before, _ := strings.Cut(s.expiry(0), "/")
	_, after, _ := strings.Cut(s.expiry(4), "/")
	return values{
		"accountUpdaterLineId":              s.number("55", 6),
		"sellerShopperId":                   s.number("club-", 4),
		"linkedSubscriptions":               s.subscription(),
		"responseDate":                      Date(s.at),
		"responseMessage":                   "502",
		"originalCreditCardExpirationMonth": month,
		"originalCreditCardExpirationYear":  before,
		"originalCreditCardLast4Digits":     s.card.last,
		"updatedCreditCardExpirationMonth":  month,
		"updatedCreditCardExpirationYear":   after,
		"updatedCreditCardLast4Digits":      s.card.last,
		"updatedCreditCardType":             s.card.brand,
	}
}

// accountNews is what a bank tells of a stored account: here, that it has moved to another office.
func (s sale) accountNews() values {
	return values{
		"accountType":                 pick(s, []string{"CONSUMER_CHECKING", "CORPORATE_SAVINGS"}),
		"originalPublicAccountNumber": "*****" + s.digits(4),
		"originalPublicRoutingNumber": "011000015",
		"updatedPublicRoutingNumber":  "011000138",
	}
}

// merchant is the receiving end: the vendor, his bank, and the merchants that an embedded partner brings.
func (s sale) merchant() values {
	return values{
		"vendorId":                        s.number("88", 6),
		"vendorName":                      "Wool & Co.",
		"payoutId":                        s.number("99", 6),
		"amount[0]":                       grouped(s.total * 48),
		"currency[0]":                     s.person.Currency,
		"bankAccountName":                 "Wool and Co",
		"bankAccountBranch":               "Main",
		"bankAccountNumber":               "****" + s.digits(4),
		"bankAccountFinancialInstitution": "Bank of Example",
		"merchantId":                      s.number("77", 6),
		"sandboxId":                       s.number("78", 6),
		"payoutStatus":                    s.yes(2),
		"accountCanProcess":               pick(s, []string{"Y", "N", "Pending"}),
		"merchantName":                    "Purl Partners",
		"merchantEmail":                   "desk@purl.example.com",
		"documentType":                    "BANK_STATEMENT",
	}
}

// grouped writes an amount with commas, as the sums of payouts are: "1,204.50".
func grouped(a money.Amount) string {
	text := a.String()
	for at := strings.IndexByte(text, '.') - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// The rest is what single types say otherwise than the sale at large.

// oneTime ends when it begins: there is nothing to renew.
func oneTime(s sale) values { return values{"untilDate": Date(s.at)} }

// trial is the start of a subscription that costs nothing at first.
func trial(sale) values {
	const nothing = "0.00"
	return values{
		"contractPrice": nothing, "contractChargePrice": nothing, "contractLocalPrice": nothing, "invoiceLocalAmount": nothing,
		"invoiceAmountUSD": nothing, "invoiceChargeAmount": nothing, "taxAmountUSD": nothing, "taxChargeAmount": nothing,
	}
}

// renewal is an invoice of its own, and nobody's order.
func renewal(s sale) values {
	return values{"referenceNumber": s.number("8", 9), "originalReferenceNumber": s.reference(), "merchantTransactionId": ""}
}

// disputeOpened has the disputed amount where the charged one stands, with a minus.
func disputeOpened(s sale) values {
	return values{
		"untilDate": Date(s.at), "invoiceChargeAmount": (-s.total).String(), "cbStatus": "NEW",
		"reversalReason": "Services not rendered",
	}
}

// disputeGoesOn is news of a dispute; its status comes in both letter cases.
func disputeGoesOn(s sale) values {
	news := disputeOpened(s)
	news["cbStatus"] = pick(s, []string{"WORKING", "COMPLETED_PENDING", "COMPLETED_WON", "Completed_Lost", "CLOSED"})
	return news
}

func depositFailed(s sale) values {
	return values{"amount": (s.total * 48).String(), "failureReason": "Account closed"}
}

// cardless is what an order says of the card when there was none.
func cardless(s sale, method string) values {
	said := oneTime(s)
	for _, name := range names(byWhatMeans) {
		said[name] = ""
	}
	said["paymentMethod"], said["paymentType"] = method, method
	return said
}

func byWire(s sale) values { return cardless(s, "WIRE") }

// byBank is a debit that takes days: SEPA where it can be, ACH elsewhere.
func byBank(s sale) values {
	if s.person.Currency != "EUR" {
		return cardless(s, "ACH")
	}
	said := cardless(s, "SEPA")
	said["sepaMandateId"], said["sepaMandateDate"] = s.number("MND-", 6), s.at.Format("2006-01-02")
	said["sepaIban"] = "DE89370400440532013000" // the example of the standard
	return said
}

func bankChange(sale) values { return values{"responseMessage": "C02"} }

// places says what stands for other fields in a layout.
func (s sale) places(nodeField string) map[string][]Field {
	return map[string][]Field{
		nodePlace:    {{nodeField, "99"}}, // the sandbox
		customPlace:  s.custom(),
		chargesPlace: s.charges(),
		itemsPlace:   s.items(),
	}
}

// custom are fields named by titles that the merchant typed.
func (s sale) custom() []Field {
	all := []Field{{"Color", "Sea green"}, {"Main product", s.plan.called}, {"Größe", "M"}, {"Gift wrap?", "Y"}}
	return all[:s.random.IntN(len(all)+1)]
}

// charges are extra ones, here always of nothing: they agree with every total.
func (s sale) charges() []Field {
	if s.seed%3 != 0 {
		return nil
	}
	return []Field{{"additionalChargeAmount[0]", "0.00"}, {"additionalChargeCategory[0]", "SHIPPING"}, {"additionalChargeName[0]", "Free delivery"}}
}

// items are further contracts of the order, here free ones.
func (s sale) items() []Field {
	var fields []Field
	for i, name := range s.further {
		number := strconv.Itoa(i)
		fields = append(fields, Field{"promoteContractId" + number, s.plan.next}, Field{"promoteContractName" + number, name},
			Field{"promoteContractPrice" + number, "0.00"}, Field{"promoteContractQuantity" + number, "1"})
	}
	return fields
}
