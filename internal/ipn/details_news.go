package ipn

// Refusal is why no money came.
type Refusal struct {
	DeclineReason string `json:"declineReason,omitempty"`
	FailureReason string `json:"failureReason,omitempty"`
}

func readRefusal(v *view) Refusal {
	return Refusal{
		DeclineReason: v.text("declineReason"),
		FailureReason: v.text("failureReason"),
	}
}

// Reversal is a refund or dispute of an earlier charge.
type Reversal struct {
	Amount          Money  `json:"reversalAmount,omitzero"`
	Reason          string `json:"reversalReason,omitempty"`
	ReferenceNumber string `json:"reversalRefNum,omitempty"`
	Full            *bool  `json:"fullRefund,omitempty"`
	DisputeStatus   string `json:"cbStatus,omitempty"`
}

func readReversal(v *view) Reversal {
	return Reversal{
		Amount:          v.money("reversalAmount"),
		Reason:          v.text("reversalReason"),
		ReferenceNumber: v.text("reversalRefNum"),
		Full:            v.flag("fullRefund"),
		DisputeStatus:   v.text("cbStatus"),
	}
}

// Ending is why a subscription ended, and which contract of it.
type Ending struct {
	CancelReason        string `json:"cancelReason,omitempty"`
	CancelledContractID string `json:"cancelledContractId,omitempty"`
}

func readEnding(v *view) Ending {
	return Ending{
		CancelReason:        v.text("cancelReason"),
		CancelledContractID: v.text("cancelledContractId"),
	}
}

// PlanChange is a move from one contract to another.
type PlanChange struct {
	OldContractID   string `json:"oldContractId,omitempty"`
	OldContractName string `json:"oldContractName,omitempty"`
	OldProductID    string `json:"oldProductId,omitempty"`
	OldProductName  string `json:"oldProductName,omitempty"`
	NewContractID   string `json:"newContractId,omitempty"`
	NewContractName string `json:"newContractName,omitempty"`
	NewProductID    string `json:"newProductId,omitempty"`
	NewProductName  string `json:"newProductName,omitempty"`
}

func readPlanChange(v *view) PlanChange {
	return PlanChange{
		OldContractID:   v.text("oldContractId"),
		OldContractName: v.text("oldContractName"),
		OldProductID:    v.text("oldProductId"),
		OldProductName:  v.text("oldProductName"),
		NewContractID:   v.text("newContractId"),
		NewContractName: v.text("newContractName"),
		NewProductID:    v.text("newProductId"),
		NewProductName:  v.text("newProductName"),
	}
}

// Update is news of a stored card or bank account from the card schemes and banks.
type Update struct {
	LineID                  string `json:"accountUpdaterLineId,omitempty"`
	AccountType             string `json:"accountType,omitempty"`
	LinkedSubscriptions     string `json:"linkedSubscriptions,omitempty"`
	ResponseDate            Date   `json:"responseDate,omitzero"`
	ResponseMessage         string `json:"responseMessage,omitempty"`
	OriginalExpirationMonth *int   `json:"originalCreditCardExpirationMonth,omitempty"`
	OriginalExpirationYear  *int   `json:"originalCreditCardExpirationYear,omitempty"`
	OriginalLast4Digits     string `json:"originalCreditCardLast4Digits,omitempty"`
	UpdatedExpirationMonth  *int   `json:"updatedCreditCardExpirationMonth,omitempty"`
	UpdatedExpirationYear   *int   `json:"updatedCreditCardExpirationYear,omitempty"`
	UpdatedLast4Digits      string `json:"updatedCreditCardLast4Digits,omitempty"`
	UpdatedType             string `json:"updatedCreditCardType,omitempty"`
	OriginalAccountNumber   string `json:"originalPublicAccountNumber,omitempty"`
	OriginalRoutingNumber   string `json:"originalPublicRoutingNumber,omitempty"`
	UpdatedRoutingNumber    string `json:"updatedPublicRoutingNumber,omitempty"`
}

func readUpdate(v *view) Update {
	return Update{
		LineID:                  v.text("accountUpdaterLineId"),
		AccountType:             v.text("accountType"),
		LinkedSubscriptions:     v.text("linkedSubscriptions"),
		ResponseDate:            v.date("responseDate"),
		ResponseMessage:         v.text("responseMessage"),
		OriginalExpirationMonth: v.count("originalCreditCardExpirationMonth"),
		OriginalExpirationYear:  v.count("originalCreditCardExpirationYear"),
		OriginalLast4Digits:     v.text("originalCreditCardLast4Digits"),
		UpdatedExpirationMonth:  v.count("updatedCreditCardExpirationMonth"),
		UpdatedExpirationYear:   v.count("updatedCreditCardExpirationYear"),
		UpdatedLast4Digits:      v.text("updatedCreditCardLast4Digits"),
		UpdatedType:             v.text("updatedCreditCardType"),
		OriginalAccountNumber:   v.text("originalPublicAccountNumber"),
		OriginalRoutingNumber:   v.text("originalPublicRoutingNumber"),
		UpdatedRoutingNumber:    v.text("updatedPublicRoutingNumber"),
	}
}

// BankAccount is the account a payout goes to.
type BankAccount struct {
	Name                 string `json:"bankAccountName,omitempty"`
	Branch               string `json:"bankAccountBranch,omitempty"`
	BsbNumber            string `json:"bankAccountBsbNumber,omitempty"`
	FinancialInstitution string `json:"bankAccountFinancialInstitution,omitempty"`
	Number               string `json:"bankAccountNumber,omitempty"`
}

func readBankAccount(v *view) BankAccount {
	return BankAccount{
		Name:                 v.text("bankAccountName"),
		Branch:               v.text("bankAccountBranch"),
		BsbNumber:            v.text("bankAccountBsbNumber"),
		FinancialInstitution: v.text("bankAccountFinancialInstitution"),
		Number:               v.text("bankAccountNumber"),
	}
}

// Merchant is a merchant on an embedded partner's way to going live.
type Merchant struct {
	ID           string `json:"merchantId,omitempty"`
	SandboxID    string `json:"sandboxId,omitempty"`
	PayoutStatus *bool  `json:"payoutStatus,omitempty"`
	Payout       *bool  `json:"payout,omitempty"`
	CanProcess   string `json:"accountCanProcess,omitempty"`
	Name         string `json:"merchantName,omitempty"`
	Email        string `json:"merchantEmail,omitempty"`
}

func readMerchant(v *view) Merchant {
	return Merchant{
		ID:           v.text("merchantId"),
		SandboxID:    v.text("sandboxId"),
		PayoutStatus: v.flag("payoutStatus"),
		Payout:       v.flag("payout"),
		CanProcess:   v.text("accountCanProcess"),
		Name:         v.text("merchantName"),
		Email:        v.text("merchantEmail"),
	}
}
