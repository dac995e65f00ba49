package paysim

import (
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
)

// jurisdiction is who levies a tax: a country, or a state of one. Rates are in hundredths of a
// percent; the zero jurisdiction levies nothing.
//
// The interface leaves the rates to a tax provider (specification section 1). These are near the
// real ones, and fixed: a test may count on them, a merchant must not.
type jurisdiction struct {
	standard, reduced int64 // reduced is for the goods of reducedCodes
	vat               bool  // the tax is a VAT, not a sales tax
}

// vatCountries levy one tax on everything, less on what is reduced: nearly all of them a VAT, some
// a tax that is not called so. What is not here, and does not tax by state, taxes nothing.
var vatCountries = map[string]jurisdiction{
	"AT": {2000, 1000, true}, "BE": {2100, 600, true}, "BG": {2000, 900, true}, "CH": {810, 260, true}, "CY": {1900, 500, true},
	"CZ": {2100, 1200, true}, "DE": {1900, 700, true}, "DK": {2500, 2500, true}, "EE": {2200, 900, true}, "ES": {2100, 400, true},
	"FI": {2550, 1400, true}, "FR": {2000, 550, true}, "GB": {2000, 0, true}, "GR": {2400, 600, true}, "HR": {2500, 500, true},
	"HU": {2700, 500, true}, "IE": {2300, 0, true}, "IL": {1700, 1700, true}, "IT": {2200, 400, true}, "LT": {2100, 500, true},
	"LU": {1700, 300, true}, "LV": {2100, 500, true}, "MT": {1800, 500, true}, "NL": {2100, 900, true}, "NO": {2500, 1500, true},
	"PL": {2300, 500, true}, "PT": {2300, 600, true}, "RO": {1900, 500, true}, "SE": {2500, 600, true}, "SI": {2200, 500, true},
	"SK": {2300, 500, true}, "AU": {1000, 0, true}, "NZ": {1500, 1500, true}, "JP": {1000, 800, false}, "SG": {900, 900, true},
}

// stateTaxes are the rates of the countries that leave the tax to their states or provinces; a
// quote for one of these countries must name the state. What is reduced is free of tax there.
// Counties and cities levy none.
var stateTaxes = map[string]map[string]int64{
	"US": {
		"AK": 0, "AL": 400, "AR": 650, "AZ": 560, "CA": 725, "CO": 290, "CT": 635, "DC": 600, "DE": 0, "FL": 600, "GA": 400,
		"HI": 400, "IA": 600, "ID": 600, "IL": 625, "IN": 700, "KS": 650, "KY": 600, "LA": 500, "MA": 625, "MD": 600, "ME": 550,
		"MI": 600, "MN": 688, "MO": 423, "MS": 700, "MT": 0, "NC": 475, "ND": 500, "NE": 550, "NH": 0, "NJ": 663, "NM": 488,
		"NV": 685, "NY": 400, "OH": 575, "OK": 450, "OR": 0, "PA": 600, "RI": 700, "SC": 600, "SD": 420, "TN": 700, "TX": 625,
		"UT": 610, "VA": 530, "VT": 600, "WA": 650, "WI": 500, "WV": 600, "WY": 400,
	},
	"CA": {
		"AB": 500, "BC": 1200, "MB": 1200, "NB": 1500, "NL": 1500, "NS": 1400, "NT": 500, "NU": 500, "ON": 1300, "PE": 1500,
		"QC": 1498, "SK": 1100, "YT": 500,
	},
}

// exemptCode is the product tax code of what is taxed nowhere. Of any other code the first letter
// tells what the product is: P goods that can be touched, D what is downloaded, S services. The
// service operator assigns codes (specification section 1), so any text counts as one; an unknown
// one is taxed in full.
const exemptCode = "NT"

// reducedCodes are taxed less, or not at all: a book and groceries.
var reducedCodes = map[string]bool{"PB100000": true, "PF050001": true}

// deliveryFee is what Colorado takes for goods delivered to its inhabitants, once per order with
// something taxed in it (specification section 1). It stands among the items, as a line without an
// amount whose tax is the fee, so that the lines' taxes still add up to the total.
var deliveryFee = Line{
	ItemCode: "RETAIL-DELIVERY-FEE", Description: "Retail delivery fee", Quantity: 1, Tax: money.MustParse("0.29"), Fee: true,
}

// jurisdictionOf returns who taxes what is shipped to an address: 24019 for an unknown country,
// 50106 for an unknown state of a country that taxes by state.
func jurisdictionOf(to Address) (jurisdiction, error) {
	country, state := strings.ToUpper(to.Country), strings.ToUpper(to.State)
	if !countries[country] {
		return jurisdiction{}, Refuse("24019", "shipTo.country", to.Country)
	}
	states, byState := stateTaxes[country]
	if !byState {
		return vatCountries[country], nil // the zero one, without tax, for the countries that are not listed
	}
	rate, known := states[state]
	if !known {
		return jurisdiction{}, Refuse("50106", "shipTo.state", to.State)
	}
	return jurisdiction{standard: rate}, nil
}

// rate is the tax of a product by its product tax code, in hundredths of a percent; 0 is exempt.
func (j jurisdiction) rate(taxCode string) int64 {
	if taxCode == exemptCode {
		return 0
	}
	if reducedCodes[taxCode] {
		return j.reduced
	}
	return j.standard
}

// countries are the codes of ISO 3166-1 alpha-2. The interface knows all of them, also those that
// tax nothing.
var countries = setOf(`
	AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG
	CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL
	GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA
	LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP
	NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV
	SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW`)

// setOf makes a set of words that are parted by space or line feeds.
func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}
