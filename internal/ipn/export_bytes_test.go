package ipn

// What the external tests reach of the half that reads bytes.
var (
	ScanForm       = scanForm
	ParseDate      = parseDate
	MoneyProblem   = moneyProblem
	ScaleOf        = scaleOf
	AuthKeyVerdict = authKeyVerdict
)

// PlainName is the rule for what may stand in Problem.Field.
var PlainName = isPlainName
