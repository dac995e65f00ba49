package finance

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/export"
	"github.com/ipn-receiver/ipn-receiver/internal/server"
)

const (
	exportsAtOnce  = 2                // more would only slow each other down, and lists with them
	exportRetry    = 15 * time.Second // told to who comes when there are so many
	exportPatience = 30 * time.Second // for a reader to take the next piece
	exportPiece    = 64 << 10
)

func (o *Office) registerExports(api huma.API) {
	e := &exporter{office: o, turns: make(chan struct{}, exportsAtOnce)}
	operation := huma.Operation{
		OperationID: "export", Method: http.MethodGet, Path: "/api/v1/export", Tags: []string{"export"}, Metadata: access.Needs(access.Export),
		Summary: "Take events or movements along as CSV or JSON lines, by ascending id",
		Description: "Rows hold money facts and references, no names and nothing else of a body. signedAmount is the amount in the direction of its type, positive for what comes in, " +
			"empty for types that move no money. In CSV (RFC 4180, UTF-8) a text that a spreadsheet would take for a formula has an apostrophe before it; numbers have none. " +
			"An export is no snapshot: it goes along the log up to the event that was the newest when it began, Ipn-Export-Up-To. Ipn-Export-Rows is the exact number of rows behind the row of names. " +
			"An answer that is cut off ends without the last chunk of its transfer: continue it with after and the same upTo, and the rest is exactly what is missing. Each export is written to the audit before its first byte.",
		Parameters:         parametersOf(export.Filters()),
		SkipValidateParams: true, // export.Read names what is wrong with them
		Errors:             []int{http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusServiceUnavailable},
		Responses: map[string]*huma.Response{"200": {
			Description: "The rows.",
			Headers: map[string]*huma.Param{
				"Ipn-Export-Rows":  {Description: "How many rows follow", Schema: &huma.Schema{Type: huma.TypeInteger, Format: "int64"}},
				"Ipn-Export-Up-To": {Description: "The last event of which anything is told; to be given as upTo to continue", Schema: &huma.Schema{Type: huma.TypeInteger, Format: "int64"}},
			},
			Content: map[string]*huma.MediaType{
				"text/csv":             {Schema: &huma.Schema{Type: huma.TypeString}},
				"application/x-ndjson": {Schema: &huma.Schema{Type: huma.TypeString}},
			},
		}},
	}
	huma.Register(api, operation, e.export)
}

// exporter lets so many exports run at a time.
type exporter struct {
	office *Office
	turns  chan struct{}
}

// exportInput is the query, to be read by the table of filters.
type exportInput struct {
	question export.Question
}

// Resolve implements huma.Resolver.
func (in *exportInput) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	question, err := export.Parse(u.RawQuery)
	in.question = question
	return located("query", err)
}

func (e *exporter) export(ctx context.Context, in *exportInput) (*huma.StreamResponse, error) {
	select {
	case e.turns <- struct{}{}:
	default:
		busy := huma.Error429TooManyRequests("two exports are running already, try again when one is over")
		return nil, huma.ErrorWithHeaders(busy, http.Header{"Retry-After": {strconv.Itoa(int(exportRetry / time.Second))}})
	}
	over, handedOn := func() { <-e.turns }, false
	defer func() {
		if !handedOn { // also in a panic
			over()
		}
	}()
	if in.question.Of == export.Movements && e.office.Books == nil {
		return nil, invalid("query.of", "ask for events: no books are kept here")
	}
	run, err := export.Begin(ctx, in.question, e.office.History, e.office.Books)
	if err != nil {
		return nil, problem(err)
	}
	if err := e.office.Witness.WitnessAct(ctx, "export", actBy(ctx, run.Reason(), ""), run.Details()); err != nil {
		return nil, problem(err)
	}
	handedOn = true
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer over()
		stream(ctx, &in.question, run)
	}}, nil
}

// stream writes the answer. Once a byte is out there is no other way to tell that it ended too soon than to cut it off.
func stream(ctx huma.Context, q *export.Question, run *export.Export) {
	ctx.SetHeader("Content-Type", q.ContentType())
	ctx.SetHeader("Content-Disposition", `attachment; filename="`+q.FileName()+`"`)
	ctx.SetHeader("Ipn-Export-Rows", strconv.FormatInt(run.Rows, 10))
	ctx.SetHeader("Ipn-Export-Up-To", strconv.FormatInt(run.UpTo, 10))
	ctx.SetStatus(http.StatusOK)
	_, answer := humachi.Unwrap(ctx)
	told := int64(0)
	err := run.Write(ctx.Context(), patientWriter{answer, http.NewResponseController(answer)}, func(rows int64) { told = rows })
	server.LogField(ctx.Context(), zap.Int64("rows", told))
	if err != nil {
		server.LogField(ctx.Context(), zap.Bool("cut", true))
		panic(http.ErrAbortHandler)
	}
}

// patientWriter gives the reader some time for each piece, and as much as it takes for all of them.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Write implements io.Writer. Where there are no deadlines to set, as in a test, there is none to be late for.
func (w patientWriter) Write(text []byte) (n int, err error) {
	for n < len(text) && err == nil {
		_ = w.control.SetWriteDeadline(time.Now().Add(exportPatience))
		var written int
		written, err = w.ResponseWriter.Write(text[n:min(n+exportPiece, len(text))])
		n += written
	}
	return n, err
}
