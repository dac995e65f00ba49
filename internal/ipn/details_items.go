package ipn

// PromotedItem is a further item of an order, told by names with an index: promoteContractId0, promoteContractId1. One
// IPN tells the whole order.
type PromotedItem struct {
	Index          int    `json:"index"`
	ContractID     string `json:"promoteContractId,omitempty"`
	ContractName   string `json:"promoteContractName,omitempty"`
	Owner          string `json:"promoteContractOwner,omitempty"`
	Price          Money  `json:"promoteContractPrice,omitzero"`
	ChargePrice    Money  `json:"promoteContractChargePrice,omitzero"`
	LocalPrice     Money  `json:"promoteContractLocalPrice,omitzero"`
	Quantity       *int   `json:"promoteContractQuantity,omitempty"`
	LicenseKey     string `json:"promoteContractLicenseKey,omitempty"`
	ProductID      string `json:"promoteProductId,omitempty"`
	ProductName    string `json:"promoteProductName,omitempty"`
	SubscriptionID string `json:"promoteSubscriptionId,omitempty"`
}

// AdditionalCharge is an extra charge on top of the contracts.
type AdditionalCharge struct {
	Index    int    `json:"index"`
	Amount   Money  `json:"additionalChargeAmount,omitzero"`
	Category string `json:"additionalChargeCategory,omitempty"`
	Name     string `json:"additionalChargeName,omitempty"`
}

// CustomValue is one of the numbered fields for the merchant's own use.
type CustomValue struct {
	Index int    `json:"index"`
	Value string `json:"custom"`
}

// Deposit is one currency's part of a payout.
type Deposit struct {
	Index    int    `json:"index"`
	Amount   Money  `json:"amount,omitzero"`
	Currency string `json:"currency,omitempty"`
}

// Items are the indexed fields of an order, by ascending index.
type Items struct {
	PromotedCount     *int               `json:"promoteContractsNum,omitempty"`
	Promoted          []PromotedItem     `json:"promoted,omitempty"`
	AdditionalCharges []AdditionalCharge `json:"additionalCharges,omitempty"`
	Custom            []CustomValue      `json:"custom,omitempty"`
}

func readItems(v *view) Items {
	return Items{
		PromotedCount:     v.count("promoteContractsNum"),
		Promoted:          readPromoted(v),
		AdditionalCharges: readAdditionalCharges(v),
		Custom:            readCustom(v),
	}
}

func readPromoted(v *view) []PromotedItem {
	var items []PromotedItem
	for _, i := range v.indices("promoteContractId", "promoteContractName", "promoteContractOwner",
		"promoteContractPrice", "promoteContractChargePrice", "promoteContractLocalPrice", "promoteContractQuantity",
		"promoteContractLicenseKey", "promoteProductId", "promoteProductName", "promoteSubscriptionId") {
		items = append(items, PromotedItem{
			Index:          i,
			ContractID:     v.itemText("promoteContractId", i),
			ContractName:   v.itemText("promoteContractName", i),
			Owner:          v.itemText("promoteContractOwner", i),
			Price:          v.itemMoney("promoteContractPrice", i),
			ChargePrice:    v.itemMoney("promoteContractChargePrice", i),
			LocalPrice:     v.itemMoney("promoteContractLocalPrice", i),
			Quantity:       v.itemCount("promoteContractQuantity", i),
			LicenseKey:     v.itemText("promoteContractLicenseKey", i),
			ProductID:      v.itemText("promoteProductId", i),
			ProductName:    v.itemText("promoteProductName", i),
			SubscriptionID: v.itemText("promoteSubscriptionId", i),
		})
	}
	return items
}

func readAdditionalCharges(v *view) []AdditionalCharge {
	var charges []AdditionalCharge
	for _, i := range v.indices("additionalChargeAmount", "additionalChargeCategory", "additionalChargeName") {
		charges = append(charges, AdditionalCharge{
			Index:    i,
			Amount:   v.itemMoney("additionalChargeAmount", i),
			Category: v.itemText("additionalChargeCategory", i),
			Name:     v.itemText("additionalChargeName", i),
		})
	}
	return charges
}

func readCustom(v *view) []CustomValue {
	var values []CustomValue
	for _, i := range v.indices("custom") {
		values = append(values, CustomValue{Index: i, Value: v.itemText("custom", i)})
	}
	return values
}

func readDeposits(v *view) []Deposit {
	var deposits []Deposit
	for _, i := range v.indices("amount", "currency") {
		deposits = append(deposits, Deposit{
			Index:    i,
			Amount:   v.itemMoney("amount", i),
			Currency: v.itemText("currency", i),
		})
	}
	return deposits
}
