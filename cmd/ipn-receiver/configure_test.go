package main

import (
	"strings"
	"testing"

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
	runProgram(t, env, "", "configure", "--delete", "--plan").wants(t, exitUsage)
	runProgram(t, env, "delete\n", "configure", "--delete").wants(t, exitOK, "is deleted")
	if _, there := s.Service.Configuration(); there {
		t.Error("the configuration is still there")
	}
	if told := asked(t, dsn, "select string_agg(concat_ws(' ', result, trigger, process), ', ') from configuration_pushes"); !strings.HasPrefix(told, "deleted command cli:maria@") {
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
	runProgram(t, with(env, "IPN_PAYMENTS_URL", ""), "", "configure", "--unrecorded").wants(t, exitUsage, "--payments-url (IPN_PAYMENTS_URL)", `"ipn-receiver configure --help"`)
	r := runProgram(t, with(env, "IPN_PAYMENTS_CREDENTIALS_FILE", mustWrite(t, "paysim:"+canary)), "", "configure", "--unrecorded")
	r.wants(t, exitNo, "401")
	if strings.Contains(r.stdout+r.stderr, canary) {
		t.Error("the password is told")
	}
}
