package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The vector: made outside of this program with HMAC-SHA256.
const (
	key       = "example-ipn-security-key-0001"
	timestamp = "2023-05-15 13:02:57.878"
	body      = "transactionType=CHARGE&referenceNumber=70010001&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR"
	mac       = "86120bf6869bd90fe55651a904a9ab8def25838fa6e6842232878fe0ddaf3f64"
)

func TestDecodeTellsWhatAnIPNMeans(t *testing.T) {
	r := runProgram(t, nil, body+"&invoiceChargeAmount=22", "decode", "--endpoint=shop")
	r.wants(t, exitOK)
	var told struct {
		Identity, Digest, TransactionType, Family string
		Known                                     bool
		Problems                                  []struct{ Code string }
		Fields                                    []struct{ Name, Value string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &told); err != nil {
		t.Fatalf("%v in %s", err, r.stdout)
	}
	if len(told.Identity) != 64 || len(told.Digest) != 64 || told.TransactionType != "CHARGE" || !told.Known ||
		len(told.Problems) == 0 || len(told.Fields) != 5 {
		t.Errorf("got %+v", told)
	}
	if !strings.Contains(r.stdout, "\n  \"identity\": \"") {
		t.Errorf("not indented: %s", r.stdout)
	}
	if other := runProgram(t, nil, body, "decode", "--endpoint=other"); strings.Contains(other.stdout, told.Identity) {
		t.Error("two endpoints have one identity")
	}
}

func TestEmptyInputIsTold(t *testing.T) {
	runProgram(t, nil, "", "decode").wants(t, exitNo, "standard input is empty")
	runProgram(t, map[string]string{"IPN_SIGNING_SECRETS": key}, "", "verify").wants(t, exitNo, "standard input is empty")
}

func TestVerifyNeedsASecret(t *testing.T) {
	runProgram(t, nil, body, "verify").wants(t, exitUsage, name("signing-secrets"))
}

func TestVerifyTellsWhetherASignatureIsGoodAndWhyNot(t *testing.T) {
	raw, err := hex.DecodeString(mac)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, body, timestamp, signature string
		code                             int
		want                             string
	}{
		{"a good one", body, timestamp, mac, exitOK, "The signature is good.\nIt was made with key 545a1fd5, 2s ago."},
		{"in capitals", body, timestamp, strings.ToUpper(mac), exitOK, "is good"},
		{"none", body, timestamp, "", exitNo, "nothing to verify"},
		{"no timestamp", body, "", mac, exitNo, "nothing to verify"},
		{"too short", body, timestamp, mac[:10], exitNo, "64 hexadecimal digits"},
		{"of another body", body + "0", timestamp, mac, exitNo, "another secret signed it"},
		{"with a dot between", body, timestamp, "abc37c26e6737a1920afdf64c4bc222d9305471a919b742eb8a7eebb9a963404", exitNo, "the separator is wrong"},
		{"of the body alone", body, timestamp, "45323fdbac115bac541af07a29d55a68dbf72b5203b0491c211c6a1ec80b873d", exitNo, "the body alone"},
		{"of a body saved with a newline", body + "\n", timestamp, mac, exitNo, "no newline at its end"},
		{"of a body saved with a DOS newline", body + "\r\n", timestamp, mac, exitNo, "no newline at its end"},
		{"in base64", body, timestamp, base64.StdEncoding.EncodeToString(raw), exitNo, "base64"},
		{"with a prefix", body, timestamp, "sha256=" + mac, exitNo, "sha256="},
		{"with blanks around the timestamp", body, " " + timestamp + "\n", mac, exitNo, "no blanks"},
		{"of a body encoded anew", strings.Replace(body, "CHARGE", "%43HARGE", 1), timestamp, mac, exitNo, "as a form anew"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runProgram(t, map[string]string{"IPN_SIGNING_SECRETS": key}, c.body,
				"verify", "--timestamp="+c.timestamp, "--signature="+c.signature)
			r.wants(t, c.code, c.want)
			if strings.Contains(r.stdout+r.stderr, key) {
				t.Error("the secret is shown")
			}
		})
	}
}

func TestVerifyTellsASignatureOutsideTheWindow(t *testing.T) {
	r := runProgram(t, map[string]string{"IPN_SIGNING_SECRETS": key}, body,
		"verify", "--timestamp="+timestamp, "--signature="+mac, "--signature-window=1s")
	r.wants(t, exitOK, "is good", "outside the window")
}

func TestVerifyAnswersInJSON(t *testing.T) {
	r := runProgram(t, map[string]string{"IPN_SIGNING_SECRETS": "another-secret-0001," + key}, body+"\n",
		"verify", "--json", "--timestamp="+timestamp, "--signature="+mac)
	var told answer
	if err := json.Unmarshal([]byte(r.stdout), &told); err != nil {
		t.Fatal(err)
	}
	if r.code != exitNo || told.Good || told.Result != "mismatch" || !strings.Contains(told.Hint, "newline") {
		t.Errorf("got %d, %+v", r.code, told)
	}
}

func TestHealthcheckAsksForReadiness(t *testing.T) {
	status, text := http.StatusOK, "ok"
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}))
	_, port, _ := strings.Cut(strings.TrimPrefix(peer.URL, "http://"), ":")
	for _, address := range []string{"127.0.0.1:", "0.0.0.0:", ":"} {
		env := map[string]string{"IPN_PRIVATE_LISTEN": address + port, "HTTP_PROXY": "http://192.0.2.1:1"}
		runProgram(t, env, "", "healthcheck").wants(t, exitOK, "ready")
	}
	status, text = http.StatusServiceUnavailable, "database: away"
	runProgram(t, nil, "", "healthcheck", "--private-listen=:"+port).wants(t, exitNo, "not ready: database: away")
	status = http.StatusNotFound
	runProgram(t, nil, "", "healthcheck", "--private-listen=:"+port).wants(t, exitNo, "404", "private door", name("private-listen"))
	peer.Close()
	runProgram(t, nil, "", "healthcheck", "--private-listen=:"+port).wants(t, exitNo, "no receiver answers")
}

func TestReachableAsksEveryInterfaceOnLoopback(t *testing.T) {
	for address, want := range map[string]string{
		":1": "127.0.0.1:1", "0.0.0.0:1": "127.0.0.1:1", "[::]:1": "[::1]:1", "[::1]:1": "[::1]:1", "10.0.0.1:1": "10.0.0.1:1", "localhost:1": "localhost:1",
	} {
		if got := reachable(address); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}
