package ipn

// A Problem is one thing about an IPN that is not as the specification or the
// sender's habit has it. A problem never stops an event: the IPN is kept,
// acknowledged and flagged. Problems are stored for years beside the money
// facts, so they hold no personal data.
type Problem struct {
	// Field is the name of the field as sent, or "#17" (the seventeenth pair
	// of the body) where the name itself is not a plain word. Empty when the
	// problem is the body's.
	Field string `json:"field"`
	// Code is one of the constants below.
	Code string `json:"code"`
	// Detail says more, in words of ours. It never holds a field's value.
	Detail string `json:"detail,omitempty"`
}

// The problem codes. They are stored and shown: their texts never change.
const (
	// Of the body's form.
	NoFields           = "no_fields"
	NotAForm           = "not_a_form"
	TooManyFields      = "too_many_fields"
	TooManyProblems    = "too_many_problems"
	ByteOrderMark      = "byte_order_mark"
	CharsetUnknown     = "charset_unknown"
	CharsetGuess       = "charset_guess"
	CharsetInvalid     = "charset_invalid"
	BadEscape          = "bad_escape"
	DoubleEncoded      = "double_encoded"
	SemicolonKept      = "semicolon_kept"
	AmpersandEntity    = "ampersand_entity"
	EmptyName          = "empty_name"
	NoEqualsSign       = "no_equals_sign"
	NULByte            = "nul_byte"
	CriticalRepeated   = "critical_repeated"
	MisspelledName     = "misspelled_name"
	TransactionTypeGap = "transaction_type_missing"
	UnknownType        = "transaction_type_unknown"
	// Of a value.
	TextCut          = "text_cut"
	TextSanitised    = "text_sanitised"
	AmountMalformed  = "amount_malformed"
	AmountTooLong    = "amount_too_long"
	AmountScale      = "amount_scale"
	CurrencyInvalid  = "currency_invalid"
	CountryInvalid   = "country_invalid"
	FlagInvalid      = "flag_invalid"
	NumberInvalid    = "number_invalid"
	DateMalformed    = "date_malformed"
	DateOutOfRange   = "date_out_of_range"
	DateAmbiguous    = "date_ambiguous"
	DateNonexistent  = "date_nonexistent"
	ReferenceMissing = "reference_missing"
	// Of the delivery.
	ContentEncoded = "content_encoded"
	SignatureStale = "signature_stale"
)

// problemTable is the one list of codes, each with the sentence people read.
var problemTable = []struct{ code, sentence string }{
	{NoFields, "The body holds no name=value pair."},
	{NotAForm, "The content type is not a URL-encoded form; the body was read as one all the same."},
	{TooManyFields, "The body has more fields than the limit; the rest is in the raw body only."},
	{TooManyProblems, "The event has more problems than are listed."},
	{ByteOrderMark, "The body began with a byte order mark, which was left out."},
	{CharsetUnknown, "The declared charset is unknown or cannot carry a form; UTF-8 was assumed."},
	{CharsetGuess, "The text is not valid UTF-8; it was read as Windows-1252."},
	{CharsetInvalid, "The text has bytes that the declared charset does not know."},
	{BadEscape, "A percent sign is not followed by two hexadecimal digits; the text was kept as it came."},
	{DoubleEncoded, "The value seems to be URL-encoded twice; it was decoded once."},
	{SemicolonKept, "A bare semicolon was kept as text: it separates nothing."},
	{AmpersandEntity, "A pair was separated by the HTML entity of the ampersand."},
	{EmptyName, "A pair has no name."},
	{NoEqualsSign, "A pair has no equals sign; it was read as a name with an empty value."},
	{NULByte, "The text contains a NUL byte, which is kept in the raw body only."},
	{CriticalRepeated, "A field that decides meaning or money came more than once with different values."},
	{MisspelledName, "A name is a standard one but for surrounding space; it was not taken for it."},
	{TransactionTypeGap, "The transactionType is missing or empty."},
	{UnknownType, "The transactionType is not one this program knows."},
	{TextCut, "The text is too long for its column and was cut; the raw body has all of it."},
	{TextSanitised, "The text had characters that cannot be stored, which were replaced."},
	{AmountMalformed, "The amount is not a plain decimal number."},
	{AmountTooLong, "The amount has more than 40 digits."},
	{AmountScale, "The amount has more decimals than its currency."},
	{CurrencyInvalid, "The currency is not a three-letter code."},
	{CountryInvalid, "The country is not a two-letter code."},
	{FlagInvalid, "The value is neither Y nor N."},
	{NumberInvalid, "The value is not a whole number."},
	{DateMalformed, "The date is not of the form MM/DD/YYYY hh:mm AM/PM, or there is no such day or minute."},
	{DateOutOfRange, "The year lies outside 1990 to 2200."},
	{DateAmbiguous, "The hour occurs twice on that day because clocks went back; the earlier one was taken."},
	{DateNonexistent, "The hour does not occur on that day because clocks went forward."},
	{ContentEncoded, "The body came with a content encoding; it was kept as it came and never unpacked."},
	{SignatureStale, "The signature is good, but its timestamp is unreadable or outside the window."},
	{ReferenceMissing, "A reference that tells two events of this type apart is missing."},
}

// ProblemCodes returns every code, in table order.
func ProblemCodes() []string {
	codes := make([]string, len(problemTable))
	for i, row := range problemTable {
		codes[i] = row.code
	}
	return codes
}

// ProblemSentence returns the sentence for a code, or "" for an unknown one.
func ProblemSentence(code string) string {
	for _, row := range problemTable {
		if row.code == code {
			return row.sentence
		}
	}
	return ""
}

// maxProblems bounds what one hostile body can put beside the money facts.
const maxProblems = 100

// A problemList collects problems: each code once per field, and one
// TooManyProblems in place of whatever a field shows after the first hundred.
// Problems of the body itself are few and always listed.
type problemList []Problem

func (l *problemList) add(field, code, detail string) {
	if len(*l) >= maxProblems && field != "" {
		field, code, detail = "", TooManyProblems, ""
	}
	for _, p := range *l {
		if p.Field == field && p.Code == code {
			return
		}
	}
	*l = append(*l, Problem{Field: field, Code: code, Detail: detail})
}
