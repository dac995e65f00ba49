package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

const financeDoc = "../../docs/finance.md"

// blocks are the code blocks of the document in a language.
func blocks(tb testing.TB, language string) []string {
	tb.Helper()
	text, err := os.ReadFile(financeDoc)
	if err != nil {
		tb.Fatal(err)
	}
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		found = append(found, m[1])
	}
	if len(found) < 20 {
		tb.Fatalf("the document has %d blocks of %s: one for each question is to be expected", len(found), language)
	}
	return found
}

// typed takes the commands of a shell's text apart into words, as far as the document needs it: spaces, quotes of both kinds,
// comments, and quotes that go on in the next line.
func typed(text string) (commands [][]string) {
	var words []string
	var word strings.Builder
	began, quote := false, rune(0)
	end := func() {
		if began {
			words = append(words, word.String())
		}
		word.Reset()
		began = false
	}
	comment := false
	for _, r := range text {
		switch {
		case r == '\n' && quote == 0:
			end()
			if comment = false; len(words) > 0 {
				commands, words = append(commands, words), nil
			}
		case comment:
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, began = r, true
		case quote == 0 && r == ' ':
			end()
		case quote == 0 && r == '#' && !began:
			comment = true
		default:
			word.WriteRune(r)
			began = true
		}
	}
	return commands
}

// commandsOf are the commands of the document that begin with a name, without it.
func commandsOf(tb testing.TB, name string) (found [][]string) {
	tb.Helper()
	for _, block := range blocks(tb, "sh") {
		for _, words := range typed(block) {
			for len(words) > 0 && strings.HasPrefix(words[0], "IPN_") {
				words = words[1:]
			}
			if len(words) > 0 && words[0] == name {
				found = append(found, words[1:])
			}
		}
	}
	return found
}

func TestEachOfTwentyQuestionsIsAnsweredFourWays(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(financeDoc)
	if err != nil {
		t.Fatal(err)
	}
	_, questions, _ := strings.Cut(string(text), "\n## ")
	questions, _, _ = strings.Cut(questions, "\n# ")
	answers := strings.Split(questions, "\n## ")
	if len(answers) != 20 {
		t.Fatalf("found %d questions", len(answers))
	}
	for i, answer := range answers {
		if !strings.HasPrefix(answer, fmt.Sprintf("%d. ", i+1)) {
			t.Errorf("question %d is numbered otherwise", i+1)
		}
		for _, way := range []string{"\n**Page:** `/", "\napi ", "\nipn-receiver ", "\n```sql\n"} {
			if !strings.Contains(answer, way) {
				t.Errorf("question %d lacks %q", i+1, way)
			}
		}
	}
}

func TestTheCommandsOfTheFinanceDocumentCanBeTyped(t *testing.T) {
	t.Parallel()
	commands := commandsOf(t, "ipn-receiver")
	if len(commands) < 20 {
		t.Fatalf("found %d commands: too few", len(commands))
	}
	for _, args := range commands {
		var said strings.Builder
		p := &program{args: args, stdout: &said, stderr: &said, lookupEnv: func(string) (string, bool) { return "", false }}
		if chosen, _ := p.parse(); chosen == nil {
			t.Errorf("ipn-receiver %s: %s", strings.Join(args, " "), said.String())
		}
	}
}

// toldInTheDocument are the IPNs that the document's numbers stand for.
var toldInTheDocument = []string{
	"transactionType=CHARGE&referenceNumber=1012345678&transactionDate=11/10/2026+08:00+AM&invoiceChargeAmount=63.79&invoiceChargeCurrency=USD&taxChargeAmount=3.79" +
		"&merchantTransactionId=order-4711&accountId=20123456&country=US&state=CO&contractId=2000001&paymentMethod=CC&firstName=Jane&lastName=Doe&email=jane.doe%40example.com",
	"transactionType=REFUND&referenceNumber=1012345678&reversalRefNum=38490001&transactionDate=11/12/2026+08:00+AM&reversalAmount=3.66&currency=USD",
	"transactionType=CHARGE&referenceNumber=1012345679&subscriptionId=2012345&transactionDate=11/11/2026+08:00+AM&invoiceChargeAmount=10.00&invoiceChargeCurrency=EUR&contractId=2000002",
	"transactionType=SUBSCRIPTION_CHARGE_FAILURE&subscriptionId=2012345&transactionDate=11/20/2026+08:00+AM",
	"transactionType=CHARGEBACK&referenceNumber=1012345679&reversalRefNum=38490009&transactionDate=11/15/2026+08:00+AM&invoiceChargeAmount=10.00&invoiceChargeCurrency=EUR&cbStatus=NEW",
	"transactionType=DECLINE&referenceNumber=1012345680&transactionDate=11/15/2026+09:00+AM",
	"transactionType=CHARGE&referenceNumber=1012345681&transactionDate=11/15/2026+10:00+AM",
}

// apiCall is what curl would send.
func (r *running) apiCall(words []string) (status int, answer string) {
	r.tb.Helper()
	method, body := http.MethodGet, ""
	if at := slices.Index(words, "--json"); at > 0 {
		method, body = http.MethodPost, words[at+1]
	}
	request, err := http.NewRequestWithContext(r.tb.Context(), method, r.private+"/api/v1/"+words[0], strings.NewReader(body))
	if err != nil {
		r.tb.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.tb.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.tb.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// TestTheFinanceDocumentAnswersWhatItPromises asks a running receiver all that the document asks: the API, the page and the
// database. What it does not have, or does not understand, fails.
func TestTheFinanceDocumentAnswersWhatItPromises(t *testing.T) {
	t.Parallel()
	b := openTogether(t, "IPN_VERIFICATION=observe", "IPN_SEARCH_KEY="+canary)
	for _, body := range toldInTheDocument {
		if response := b.post(body, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}); response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", body, response.Status)
		}
	}
	b.settled()

	calls := commandsOf(t, "api")
	isRecord := func(words []string) bool { return words[0] == "tax-records" }
	first := slices.DeleteFunc(slices.Clone(calls), func(words []string) bool { return !isRecord(words) })
	rest := slices.DeleteFunc(calls, isRecord)
	if len(first) != 1 || len(rest) < 30 {
		t.Fatalf("found %d tax records and %d other calls of the API", len(first), len(rest))
	}
	answers := map[string]string{}
	for _, words := range append(first, rest...) {
		status, answer := b.apiCall(words)
		if status != http.StatusOK {
			t.Errorf("api %s: %d %s", strings.Join(words, " "), status, answer)
		}
		answers[words[0]] = answer
	}
	for call, want := range map[string]string{
		"tax-records/1012345678/refund?items=SHIRT": `"amount":"52.50","taxAmount":"2.50"`, "events/search": `"1012345678"`,
		"disputes?state=open&order=oldest": `"1012345679"`, "unbooked?reason=amount_missing": `"1012345681"`, "subscriptions?atRisk=true": `"2012345"`,
	} {
		if !strings.Contains(answers[call], want) {
			t.Errorf("api %s answers %s, want %s in it", call, answers[call], want)
		}
	}
	b.wantPages()
	b.wantStatements()
}

// wantPages looks at every page that the document names.
func (b *together) wantPages() {
	b.tb.Helper()
	text, err := os.ReadFile(financeDoc)
	if err != nil {
		b.tb.Fatal(err)
	}
	pages := 0
	for _, line := range regexp.MustCompile(`(?m)^\*\*Page:\*\* .*$`).FindAllString(string(text), -1) {
		for _, found := range regexp.MustCompile("`(/[^`]*)`").FindAllStringSubmatch(line, -1) {
			if pages++; b.getStatus(found[1]) != http.StatusOK {
				b.tb.Errorf("the page %s answers %d", found[1], b.getStatus(found[1]))
			}
		}
	}
	if pages < 20 {
		b.tb.Errorf("the document names %d pages", pages)
	}
}

// wantStatements runs the SQL of the document, as a user who may read nothing but the views where it says that this is enough.
func (b *together) wantStatements() {
	b.tb.Helper()
	ctx := b.tb.Context()
	conn, err := pgx.Connect(ctx, b.dsn)
	if err != nil {
		b.tb.Fatal(err)
	}
	defer conn.Close(ctx)
	rows := map[string]int{}
	for _, block := range blocks(b.tb, "sql") {
		for statement := range strings.SplitSeq(strings.TrimSpace(block), ";\n") {
			statement = strings.TrimSuffix(statement, ";")
			role := "ipn_finance"
			if strings.Contains(statement, "public.") {
				role = "none"
			}
			if _, err := conn.Exec(ctx, "set role "+role); err != nil {
				b.tb.Fatal(err)
			}
			got, err := conn.Query(ctx, statement)
			if err == nil {
				for got.Next() {
					rows[statement]++
				}
				err = got.Err()
			}
			if err != nil {
				b.tb.Errorf("%s\n%v", statement, err)
			}
		}
	}
	answered := 0
	for _, n := range rows {
		if n > 0 {
			answered++
		}
	}
	if answered < 15 {
		b.tb.Errorf("%d statements found something: they ask past the books? %s", answered, fmt.Sprint(rows))
	}
}
