package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/control"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

func TestConfigureTellsThePlanReplacesAndThenHasNothingToDo(t *testing.T) {
	t.Parallel()
	s, dsn := simulate(t, "https://hooks.example/ipn"), pgtest.Own(t).DSN()
	env := s.variables(dsn)
	s.portal("https://hooks.example/ipn", "sendCharge")

	runProgram(t, env, "", "configure", "--plan").wants(t, exitDrift, "sendRefund", "false", "true", "without --plan it would be replaced")
	if _, on := s.flags(); on != 1 {
		t.Errorf("a plan changed something: %d flags are on", on)
	}
	runProgram(t, env, "", "configure").wants(t, exitOK, "sendRefund", "was replaced, and read back as desired")
	if url, on := s.flags(); url != "https://hooks.example/ipn" || on != 28 {
		t.Errorf("got %s with %d flags, want the public URL with 28", url, on)
	}
	runProgram(t, env, "", "configure", "--plan").wants(t, exitOK, "is as desired")
	runProgram(t, env, "", "configure", "--json").wants(t, exitOK, `"result": "in_sync"`)
	if told := asked(t, dsn, "select string_agg(result || ' ' || trigger, ', ' order by id) from configuration_pushes"); told != "drift command, replaced command, in_sync command" {
		t.Errorf("the record tells: %s", told)
	}
}

func TestConfigureLeavesAForeignHostAloneUnlessForced(t *testing.T) {
	t.Parallel()
	s, dsn := simulate(t, "https://somebody.example/ipn"), pgtest.Own(t).DSN()
	env := s.variables(dsn)
	runProgram(t, env, "", "configure").wants(t, exitNo, "names another host and was left alone", "--force")
	if url, _ := s.flags(); url != "https://somebody.example/ipn" {
		t.Errorf("it was replaced: %s", url)
	}
	runProgram(t, env, "", "configure", "--force").wants(t, exitOK, "https://somebody.example/ipn", "was replaced")
	if url, _ := s.flags(); url != "https://hooks.example/ipn" {
		t.Errorf("it was not replaced: %s", url)
	}
}

func TestConfigureDeletesOnlyWhatIsTypedAndConfirmed(t *testing.T) {
	t.Parallel()
	s, dsn := simulate(t, "https://hooks.example/ipn"), pgtest.Own(t).DSN()
	env := s.variables(dsn)
	for _, answer := range []string{"", "\n", "yes\n", "DELETE\n", "delete it\n"} {
		runProgram(t, env, answer, "configure", "--delete").wants(t, exitNo, "Type delete to go on", "nothing was deleted")
	}
	if _, on := s.flags(); on != 28 {
		t.Fatalf("%d flags are on, want all", on)
	}
	runProgram(t, env, "", "configure", "--delete", "--plan").wants(t, exitNo)
	if err := s.API.Set([]control.APIFault{{Answer: "403", Method: http.MethodDelete, Times: 1}}); err != nil {
		t.Fatal(err)
	}
	runProgram(t, env, "delete\n", "configure", "--delete").wants(t, exitNo, "403")
	if told := asked(t, dsn, "select concat_ws(' ', result, desired is null) from configuration_pushes"); told != "failed t" {
		t.Errorf("the record of a deletion that failed tells: %s", told)
	}
	runProgram(t, env, "delete\n", "configure", "--delete").wants(t, exitOK, "is deleted")
	if _, there := s.Service.Configuration(); there {
		t.Error("the configuration is still there")
	}
	if told := asked(t, dsn, "select string_agg(concat_ws(' ', result, trigger, process), ', ') from configuration_pushes where result <> 'failed'"); !strings.HasPrefix(told, "deleted command cli:maria@") {
		t.Errorf("the record tells: %s", told)
	}
}

func TestConfigureWorksWithoutADatabase(t *testing.T) {
	t.Parallel()
	s := simulate(t, "")
	env := s.variables("")
	env["IPN_DATA_DIR"], env["HOME"] = t.TempDir(), t.TempDir()
	runProgram(t, env, "", "configure").wants(t, exitOK, "so this is not recorded", "was replaced")
	env["IPN_DATABASE_URL"] = "postgres://127.0.0.1:1/nothing?connect_timeout=2"
	runProgram(t, env, "", "configure").wants(t, exitNo, "--unrecorded")
	runProgram(t, env, "", "configure", "--unrecorded").wants(t, exitOK, "is as desired")
}

func TestConfigureTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := simulate(t, "")
	env := s.variables("")
	runProgram(t, with(env, "IPN_PAYMENTS_URL", ""), "", "configure", "--unrecorded").wants(t, exitNo, "--payments-url (IPN_PAYMENTS_URL)", `"ipn-receiver configure --help"`)
	r := runProgram(t, with(env, "IPN_PAYMENTS_CREDENTIALS_FILE", mustWrite(t, "paysim:"+canary)), "", "configure", "--unrecorded")
	r.wants(t, exitNo, "401")
	if strings.Contains(r.stdout+r.stderr, canary) {
		t.Error("the password is told")
	}
}

// TestAPlanIsNotTakenForAPush is about a service whose configuration cannot be read: who has only looked has sent nothing, and
// whoever comes to apply it has it still to do.
func TestAPlanIsNotTakenForAPush(t *testing.T) {
	t.Parallel()
	s, dsn := simulate(t, ""), pgtest.Own(t).DSN()
	env := s.variables(dsn)
	if err := s.API.Set([]control.APIFault{{Answer: "garbage", Method: http.MethodGet}}); err != nil {
		t.Fatal(err)
	}
	r := runProgram(t, env, "", "configure", "--plan")
	r.wants(t, exitNo, "could not be compared", "cannot be read")
	if strings.Contains(r.stdout, "sent") {
		t.Errorf("a plan tells that something was sent: %s", r.stdout)
	}
	start(t, append(s.env(dsn), "IPN_PUBLIC_URL=https://hooks.example/ipn")...).await("sent, but what the payment service has now cannot be read.*it is no JSON")
	if _, on := s.flags(); on != 28 {
		t.Errorf("%d flags are on, want all", on)
	}
	if told := asked(t, dsn, "select string_agg(concat_ws(' ', result, trigger, error is not null), ', ' order by id) from configuration_pushes"); told != "failed command t, unconfirmed start t" {
		t.Errorf("the record tells: %s", told)
	}
}

func TestConfigureTellsOfAServiceThatKeepsAnother(t *testing.T) {
	t.Parallel()
	s, dsn := simulate(t, "https://hooks.example/ipn"), pgtest.Own(t).DSN()
	s.portal("https://hooks.example/ipn", "sendCharge")
	if err := s.API.Set([]control.APIFault{{Answer: "200", Method: http.MethodPost}}); err != nil { // says yes and does nothing
		t.Fatal(err)
	}
	r := runProgram(t, s.variables(dsn), "", "configure")
	r.wants(t, exitNo, "sendRefund", "was sent, but the payment service keeps another one")
	if strings.Contains(r.stdout, "--plan") {
		t.Errorf("it speaks of a plan: %s", r.stdout)
	}
}

func TestAForeignPasswordIsNotTold(t *testing.T) {
	t.Parallel()
	s, dsn := simulate(t, ""), pgtest.Own(t).DSN()
	s.portal("https://somebody:"+canary+"@hooks.somebody.example/ipn?a=b@c", "sendCharge")
	r := runProgram(t, s.variables(dsn), "", "configure", "--json")
	r.wants(t, exitNo, "https://[hidden]@hooks.somebody.example/ipn?a=b@c")
	if strings.Contains(r.stdout+r.stderr+asked(t, dsn, "select string_agg(to_jsonb(p)::text, ' ') from configuration_pushes p"), canary) {
		t.Error("the password of another's destination is told")
	}
}

func TestOnlyUserAndPasswordOfAnAddressAreHidden(t *testing.T) {
	for address, want := range map[string]string{
		"https://a:b@hooks.example/ipn":     "https://[hidden]@hooks.example/ipn",
		"https://a@hooks.example":           "https://[hidden]@hooks.example",
		"https://a:b@c@hooks.example?x=y@z": "https://[hidden]@hooks.example?x=y@z",
		"https://hooks.example/a@b":         "https://hooks.example/a@b",
		"https://hooks.example:8443/ipn":    "https://hooks.example:8443/ipn",
		"//a:b@hooks.example/%zz":           "//[hidden]@hooks.example/%zz",
		"hooks.example/ipn":                 "hooks.example/ipn",
		"":                                  "",
	} {
		if got := withoutPassword(address); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}

func TestAWrongSettingIsNotTakenForDrift(t *testing.T) {
	t.Parallel()
	s := simulate(t, "")
	env := s.variables("")
	for setting, value := range map[string]string{
		"IPN_NOTIFICATIONS": "NONSENSE", "IPN_ENSURE_NOTIFICATION_RECEIPT": "maybe", "IPN_PUBLIC_URL": "https://hooks.example/i pn",
		"IPN_PAYMENTS_CREDENTIALS_FILE": mustWrite(t, "paysim:one\npaysim:two\n"),
	} {
		runProgram(t, with(env, setting, value), "", "configure", "--plan", "--unrecorded").wants(t, exitNo, setting)
	}
	runProgram(t, env, "", "configure", "--plan", "--nonsense").wants(t, exitNo, "--nonsense")
}

func TestEveryDeletionIsRecorded(t *testing.T) {
	t.Parallel()
	s, dsn := simulate(t, "https://hooks.example/ipn"), pgtest.Own(t).DSN()
	for range 2 {
		s.portal("https://hooks.example/ipn", "sendCharge")
		runProgram(t, s.variables(dsn), "delete\n", "configure", "--delete").wants(t, exitOK, "is deleted")
	}
	if told := asked(t, dsn, "select count(*)::text from configuration_pushes where result = 'deleted'"); told != "2" {
		t.Errorf("two deletions left %s rows", told)
	}
}

func TestWhatIsNotReadFromTheRecordHasNoNumber(t *testing.T) {
	t.Parallel()
	s := simulate(t, "https://hooks.example/ipn")
	r := runProgram(t, s.variables(""), "", "configure", "--json", "--unrecorded")
	if r.wants(t, exitOK, `"result"`); strings.Contains(r.stdout, `"id"`) || strings.Contains(r.stdout, `"at"`) {
		t.Errorf("it tells a number or a time of its own: %s", r.stdout)
	}
}
