package export

// AppendCell and AppendString are what the tests ask of the writers of cells.
var (
	AppendCell   = appendCell
	AppendString = appendString
)
