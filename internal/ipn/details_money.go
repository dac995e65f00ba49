package ipn

// References are the numbers by which the parties know the transaction.
type References struct {
	ReferenceNumber         string `json:"referenceNumber,omitempty"`
	MerchantTransactionID   string `json:"merchantTransactionId,omitempty"`
	OriginalReferenceNumber string `json:"originalReferenceNumber,omitempty"`
	OriginalRefNum          string `json:"originalRefNum,omitempty"`
	OriginalInvoiceID       string `json:"originalInvoiceId,omitempty"`
	InvoiceID               string `json:"invoiceId,omitempty"`
	CaptureReferenceNumber  string `json:"captureReferenceNumber,omitempty"`
	SubscriptionID          string `json:"subscriptionId,omitempty"`
	OfflineOrderID          string `json:"offlineOrderId,omitempty"`
	PaypalSubscriptionID    string `json:"paypalSubscriptionId,omitempty"`
	PaypalTransactionID     string `json:"paypalTransactionId,omitempty"`
}

func readReferences(v *view) References {
	return References{
		ReferenceNumber:         v.text("referenceNumber"),
		MerchantTransactionID:   v.text("merchantTransactionId"),
		OriginalReferenceNumber: v.text("originalReferenceNumber"),
		OriginalRefNum:          v.text("originalRefNum"),
		OriginalInvoiceID:       v.text("originalInvoiceId"),
		InvoiceID:               v.text("invoiceId"),
		CaptureReferenceNumber:  v.text("captureReferenceNumber"),
		SubscriptionID:          v.text("subscriptionId"),
		OfflineOrderID:          v.text("offlineOrderId"),
		PaypalSubscriptionID:    v.text("paypalSubscriptionId"),
		PaypalTransactionID:     v.text("paypalTransactionId"),
	}
}

// Contract is what was ordered: the plan or SKU, its price per unit, and what comes with it.
type Contract struct {
	ProductID           string `json:"productId,omitempty"`
	ProductName         string `json:"productName,omitempty"`
	ContractID          string `json:"contractId,omitempty"`
	ContractName        string `json:"contractName,omitempty"`
	ContractOwner       string `json:"contractOwner,omitempty"`
	ContractPrice       Money  `json:"contractPrice,omitzero"`
	ContractChargePrice Money  `json:"contractChargePrice,omitzero"`
	ContractLocalPrice  Money  `json:"contractLocalPrice,omitzero"`
	OverridePrice       Money  `json:"overridePrice,omitzero"`
	Quantity            *int   `json:"quantity,omitempty"`
	UntilDate           Date   `json:"untilDate,omitzero"`
	RecurringDisclaimer *bool  `json:"recurringDisclaimer,omitempty"`
	LicenseKey          string `json:"licenseKey,omitempty"`
	HardwareID          string `json:"armadilloHardwareId,omitempty"`
	AddCD               *bool  `json:"addCD,omitempty"`
	Coupon              *bool  `json:"coupon,omitempty"`
	CouponCode          string `json:"couponCode,omitempty"`
	CouponValue         Money  `json:"couponValue,omitzero"`
	CouponChargeValue   Money  `json:"couponChargeValue,omitzero"`
}

func readContract(v *view) Contract {
	return Contract{
		ProductID:           v.text("productId"),
		ProductName:         v.text("productName"),
		ContractID:          v.text("contractId"),
		ContractName:        v.text("contractName"),
		ContractOwner:       v.text("contractOwner"),
		ContractPrice:       v.money("contractPrice"),
		ContractChargePrice: v.money("contractChargePrice"),
		ContractLocalPrice:  v.money("contractLocalPrice"),
		OverridePrice:       v.money("overridePrice"),
		Quantity:            v.count("quantity"),
		UntilDate:           v.date("untilDate"),
		RecurringDisclaimer: v.flag("recurringDisclaimer"),
		LicenseKey:          v.text("licenseKey"),
		HardwareID:          v.text("armadilloHardwareId"),
		AddCD:               v.flag("addCD"),
		Coupon:              v.flag("coupon"),
		CouponCode:          v.text("couponCode"),
		CouponValue:         v.money("couponValue"),
		CouponChargeValue:   v.money("couponChargeValue"),
	}
}

// Warranty is the download warranty, obsolete and mostly empty.
type Warranty struct {
	Period       string `json:"EDWPeriod,omitempty"`
	ContractID   string `json:"EDWContractId,omitempty"`
	Amount       Money  `json:"EDWAmount,omitzero"`
	AmountUSD    Money  `json:"EDWAmountUSD,omitzero"`
	Surcharge    Money  `json:"EDWSurcharge,omitzero"`
	SurchargeUSD Money  `json:"EDWSurchargeUSD,omitzero"`
}

func readWarranty(v *view) Warranty {
	return Warranty{
		Period:       v.text("EDWPeriod"),
		ContractID:   v.text("EDWContractId"),
		Amount:       v.money("EDWAmount"),
		AmountUSD:    v.money("EDWAmountUSD"),
		Surcharge:    v.money("EDWSurcharge"),
		SurchargeUSD: v.money("EDWSurchargeUSD"),
	}
}

// Amounts are the invoice's totals: what was charged (InvoiceCharge...), in dollars, and in the shopper's currency.
type Amounts struct {
	Currency              string `json:"currency,omitempty"`
	InvoiceAmount         Money  `json:"invoiceAmount,omitzero"`
	InvoiceAmountUSD      Money  `json:"invoiceAmountUSD,omitzero"`
	InvoiceChargeAmount   Money  `json:"invoiceChargeAmount,omitzero"`
	InvoiceChargeCurrency string `json:"invoiceChargeCurrency,omitempty"`
	InvoiceLocalAmount    Money  `json:"invoiceLocalAmount,omitzero"`
	InvoiceLocalCurrency  string `json:"invoiceLocalCurrency,omitempty"`
	Amount                Money  `json:"amount,omitzero"`
}

func readAmounts(v *view) Amounts {
	return Amounts{
		Currency:              v.text("currency"),
		InvoiceAmount:         v.money("invoiceAmount"),
		InvoiceAmountUSD:      v.money("invoiceAmountUSD"),
		InvoiceChargeAmount:   v.money("invoiceChargeAmount"),
		InvoiceChargeCurrency: v.text("invoiceChargeCurrency"),
		InvoiceLocalAmount:    v.money("invoiceLocalAmount"),
		InvoiceLocalCurrency:  v.text("invoiceLocalCurrency"),
		Amount:                v.money("amount"),
	}
}

// Tax is the tax inside the total.
type Tax struct {
	TaxAmountUSD    Money  `json:"taxAmountUSD,omitzero"`
	TaxChargeAmount Money  `json:"taxChargeAmount,omitzero"`
	TaxRate         string `json:"taxRate,omitempty"`
	VATID           string `json:"vatId,omitempty"`
}

func readTax(v *view) Tax {
	return Tax{
		TaxAmountUSD:    v.money("taxAmountUSD"),
		TaxChargeAmount: v.money("taxChargeAmount"),
		TaxRate:         v.text("taxRate"),
		VATID:           v.text("vatId"),
	}
}

// Means is how it was paid, and what card scheme and bank answered.
type Means struct {
	PaymentMethod        string `json:"paymentMethod,omitempty"`
	PaymentType          string `json:"paymentType,omitempty"`
	CardType             string `json:"creditCardType,omitempty"`
	CardSubType          string `json:"cardSubType,omitempty"`
	CardCategory         string `json:"cardCategory,omitempty"`
	CardLastFourDigits   string `json:"creditCardLastFourDigits,omitempty"`
	CardExpiry           string `json:"creditCardExpDate,omitempty"`
	DeviceLastFourDigits string `json:"dpanLastFourDigits,omitempty"`
	DeviceExpiry         string `json:"dpanExpDate,omitempty"`
	BINCategory          string `json:"binCategory,omitempty"`
	BINNumber            string `json:"binNumber,omitempty"`
	RegulatedCard        *bool  `json:"regulatedCard,omitempty"`
	IssuingOrg           string `json:"cardIssuingOrg,omitempty"`
	IssuingCountry       string `json:"cardIssuingCountry,omitempty"`
	CVVSent              *bool  `json:"cvvSent,omitempty"`
	AVSSent              *bool  `json:"avsSent,omitempty"`
	CVVResponse          string `json:"cvvResponse,omitempty"`
	AVSResponse          string `json:"avsResponse,omitempty"`
	ThreeDStatus         string `json:"3DStatus,omitempty"`
	SEPAMandateID        string `json:"sepaMandateId,omitempty"`
	SEPAMandateDate      Date   `json:"sepaMandateDate,omitzero"`
	SEPAIBAN             string `json:"sepaIban,omitempty"`
}

func readMeans(v *view) Means {
	return Means{
		PaymentMethod:        v.text("paymentMethod"),
		PaymentType:          v.text("paymentType"),
		CardType:             v.text("creditCardType"),
		CardSubType:          v.text("cardSubType"),
		CardCategory:         v.text("cardCategory"),
		CardLastFourDigits:   v.text("creditCardLastFourDigits"),
		CardExpiry:           v.text("creditCardExpDate"),
		DeviceLastFourDigits: v.text("dpanLastFourDigits"),
		DeviceExpiry:         v.text("dpanExpDate"),
		BINCategory:          v.text("binCategory"),
		BINNumber:            v.text("binNumber"),
		RegulatedCard:        v.flag("regulatedCard"),
		IssuingOrg:           v.text("cardIssuingOrg"),
		IssuingCountry:       v.text("cardIssuingCountry"),
		CVVSent:              v.flag("cvvSent"),
		AVSSent:              v.flag("avsSent"),
		CVVResponse:          v.text("cvvResponse"),
		AVSResponse:          v.text("avsResponse"),
		ThreeDStatus:         v.text("3DStatus"),
		SEPAMandateID:        v.text("sepaMandateId"),
		SEPAMandateDate:      v.date("sepaMandateDate"),
		SEPAIBAN:             v.text("sepaIban"),
	}
}

// Visit is the visit to the checkout. The addresses hold access tokens: treat them as secrets.
type Visit struct {
	Language           string `json:"language,omitempty"`
	TemplateID         string `json:"templateId,omitempty"`
	Referrer           string `json:"referrer,omitempty"`
	RemoteAddress      string `json:"remoteAddress,omitempty"`
	InvoiceInfoURL     string `json:"invoiceInfoURL,omitempty"`
	InvoiceURL         string `json:"invoiceURL,omitempty"`
	ShopperOrderURL    string `json:"shopperOrderUrl,omitempty"`
	ShopperAdminURL    string `json:"shopperAdminUrl,omitempty"`
	OriginalRequestURL string `json:"originalRequestUrl,omitempty"`
}

func readVisit(v *view) Visit {
	return Visit{
		Language:           v.text("language"),
		TemplateID:         v.text("templateId"),
		Referrer:           v.text("referrer"),
		RemoteAddress:      v.text("remoteAddress"),
		InvoiceInfoURL:     v.text("invoiceInfoURL"),
		InvoiceURL:         v.text("invoiceURL"),
		ShopperOrderURL:    v.text("shopperOrderUrl"),
		ShopperAdminURL:    v.text("shopperAdminUrl"),
		OriginalRequestURL: v.text("originalRequestUrl"),
	}
}
