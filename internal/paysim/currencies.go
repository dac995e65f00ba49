package paysim

import "github.com/ipn-receiver/ipn-receiver/internal/paysim/money"

// dollars is what one unit of a currency is worth in ten-thousandths of a US dollar, roughly. The
// rates never change: what an amount comes to in dollars is the same in every run. A currency that
// is not here is unknown to the service; the list is that of most European, American and Asian
// shops, with currencies of no, two and three decimals in it.
var dollars = map[string]int64{
	"AED": 2723, "AUD": 6600, "BGN": 5520, "BHD": 26500, "BRL": 2000, "CAD": 7400, "CHF": 11300, "CLP": 11, "CNY": 1380, "CZK": 430,
	"DKK": 1450, "EUR": 10800, "GBP": 12700, "HKD": 1280, "HUF": 28, "IDR": 1, "ILS": 2700, "INR": 120, "ISK": 72, "JOD": 14100,
	"JPY": 67, "KRW": 7, "KWD": 32500, "MXN": 550, "MYR": 2130, "NOK": 940, "NZD": 6100, "OMR": 26000, "PHP": 175, "PLN": 2500,
	"RON": 2170, "SEK": 950, "SGD": 7400, "THB": 280, "TND": 3200, "TRY": 310, "TWD": 310, "USD": 10000, "ZAR": 540,
}

// USD returns what an amount comes to in US dollars, rounded to whole cents; the amount itself when
// it is in dollars, and 0 for a currency that the service does not know.
func USD(amount money.Amount, currency string) money.Amount {
	if currency == "USD" {
		return amount
	}
	return amount.Share(dollars[currency], "USD")
}

// knownCurrency refuses a currency that the service does not take with 13001. Codes are upper case
// (specification section 2.2): "usd" is none.
func knownCurrency(currency string) error {
	if _, known := dollars[currency]; !known {
		return Refuse("13001", "currency", currency)
	}
	return nil
}

// payable refuses an amount that cannot be paid in a currency: 13001 for the currency, 14005 unless
// the amount is above zero, 10001 when it has decimals that the currency does not know, such as
// half a yen. property is the member to blame for the amount. An amount above the largest cannot be
// written as a money.Amount, so it is refused before it comes here.
func payable(amount money.Amount, currency, property string) error {
	if err := knownCurrency(currency); err != nil {
		return err
	}
	if amount <= 0 {
		return Refuse("14005", property, amount.String())
	}
	if amount%money.Step(currency) != 0 {
		return Refuse("10001", property, amount.String())
	}
	return nil
}
