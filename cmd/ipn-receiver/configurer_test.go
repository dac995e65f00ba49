package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/payments"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/control"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// away is a payment service that cannot be asked; it counts how often that was tried.
type away struct{ asked int }

func (a *away) NotificationConfiguration(context.Context) (payments.NotificationConfiguration, error) {
	a.asked++
	return payments.NotificationConfiguration{}, errors.New("the payment service answered 500")
}

func (a *away) ReplaceNotificationConfiguration(context.Context, payments.NotificationConfiguration) error {
	return errors.New("nobody could have asked for that")
}

func TestAPaymentServiceThatIsDownForMonthsIsAskedOnceAnInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := new(away)
		c := &configurer{mode: "apply", interval: 15 * time.Minute, log: zap.NewNop(), now: time.Now,
			looks: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "looks"}, []string{"result"})}
		c.service, c.desired = service, payments.NotificationConfiguration{Destinations: []payments.NotificationDestination{{URL: "https://hooks.example/ipn"}}}
		const months = 90 * 24 * time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), months)
		defer cancel()
		c.run(ctx)
		if least, most := int(months/(c.interval*11/10)), int(months/c.interval)+10; service.asked < least || service.asked > most {
			t.Errorf("it was asked %d times, want %d to %d", service.asked, least, most)
		}
	})
}

// asked counts the requests of a method that the API took for the notification configuration.
func (s *simulated) asked(method string) int {
	n := 0
	for _, request := range s.API.History(method, "/services/2/notification-config/", 10_000) {
		if request.Status < 300 || method == http.MethodDelete { // which must not even be tried
			n++
		}
	}
	return n
}

// configuration reads what the receiver says of the payment service's configuration.
func (r *running) configuration() (state ipn.ConfigurationState) {
	r.tb.Helper()
	r.answer("/api/v1/configuration", &state)
	return state
}

func TestTheConfigurationIsPushedChangedBehindOurBackAndRepaired(t *testing.T) {
	t.Parallel()
	s, dsn := simulate(t, ""), pgtest.Own(t).DSN()
	r := start(t, append(s.env(dsn), "IPN_CONFIGURE_INTERVAL=1s")...)
	eventually(t, "the configuration is pushed", func() bool { url, on := s.flags(); return on == 28 && url == r.intake })
	eventually(t, "it is known to be in sync", func() bool { return strings.Contains(r.get("/metrics"), "ipn_configuration_in_sync 1") })

	s.portal(r.intake, "sendCharge")
	eventually(t, "the drift is repaired", func() bool { _, on := s.flags(); return on == 28 })
	r.await(`replaced by the desired one.*"trigger":"interval".*sendRefund`)
	s.Service.DeleteConfigurations()
	eventually(t, "a deleted one is there again", func() bool {
		_, on := s.flags()
		return on == 28 && asked(t, dsn, "select count(*)::text from configuration_pushes where result = 'replaced'") == "3"
	})

	s.portal("https://somebody.example/ipn", "sendCharge")
	r.await("names another host, and is left alone")
	eventually(t, "the metric tells", func() bool { return strings.Contains(r.get("/metrics"), "ipn_configuration_in_sync 0") })
	if url, _ := s.flags(); url != "https://somebody.example/ipn" {
		t.Errorf("somebody else's configuration was replaced by %s", url)
	}
	if state := r.configuration(); state.Mode != "apply" || state.Result != ipn.ConfigurationRefused || state.InSync == nil || *state.InSync {
		t.Errorf("the API tells %+v", state)
	}
	if told := asked(t, dsn, "select string_agg(result, ' ' order by id) from configuration_pushes where result <> 'in_sync'"); told != "replaced replaced replaced refused" {
		t.Errorf("the record tells: %s", told)
	}
	if n := s.asked(http.MethodDelete); n != 0 {
		t.Errorf("the receiver deleted %d times", n)
	}
}

func TestAReceiverThatPlansOnlyTells(t *testing.T) {
	t.Parallel()
	s := simulate(t, "")
	r := start(t, append(s.env(pgtest.Own(t).DSN()), "IPN_CONFIGURE=plan", "IPN_CONFIGURE_INTERVAL=1s")...)
	r.await("not as desired; IPN_CONFIGURE=apply")
	eventually(t, "the metric tells", func() bool { return strings.Contains(r.get("/metrics"), "ipn_configuration_in_sync 0") })
	if _, on := s.flags(); on != 0 || s.asked(http.MethodPost) != 0 {
		t.Error("something was pushed")
	}
}

func TestTwoReplicasStartedAtOncePushOnce(t *testing.T) {
	t.Parallel()
	s, dsn := simulate(t, ""), pgtest.Own(t).DSN()
	if err := s.API.Set([]control.APIFault{{Answer: "slow", Method: http.MethodGet, Delay: "1s"}}); err != nil { // long enough for both to look before either pushes
		t.Fatal(err)
	}
	env := append(s.env(dsn), "IPN_PUBLIC_URL=https://hooks.example/ipn")
	replicas := []*running{launch(t, env...), launch(t, env...)}
	for _, r := range replicas {
		r.await("notification configuration: (as desired|replaced)")
	}
	if n := s.asked(http.MethodPost); n != 1 {
		t.Errorf("the configuration was pushed %d times, want once", n)
	}
	if told := asked(t, dsn, "select string_agg(result, ' ' order by id) from configuration_pushes"); told != "replaced in_sync" {
		t.Errorf("the record tells: %s", told)
	}
}

// TestIntakeGoesOnWhateverThePaymentServiceAnswers is B-38: the API is down, slow, and answers nonsense.
func TestIntakeGoesOnWhateverThePaymentServiceAnswers(t *testing.T) {
	t.Parallel()
	s, dsn := simulate(t, ""), pgtest.Own(t).DSN()
	const away, unread = "the payment service cannot be asked; trying again, intake goes on.*", "sent, but what the payment service has now cannot be read.*"
	faults := []struct {
		control.APIFault
		result string // what the receiver makes of it
		says   string // in the log
		inSync string // what the metric says of the configuration: its value, or nothing where it is not known
	}{
		{control.APIFault{Answer: "500"}, ipn.ConfigurationFailed, away + "answered 500", ""},
		{control.APIFault{Answer: "302", Location: "https://somebody.example/"}, ipn.ConfigurationFailed, away + "answered 302 Found: redirects are not followed", ""},
		{control.APIFault{Answer: "drop"}, ipn.ConfigurationFailed, away + "the connection ended without a whole answer", ""},
		{control.APIFault{Answer: "401"}, ipn.ConfigurationFailed, away + "answered 401", ""},
		{control.APIFault{Answer: "garbage", Method: http.MethodGet}, ipn.ConfigurationUnconfirmed, unread + "no JSON of the documented shape", ""},
		{control.APIFault{Answer: "huge", Method: http.MethodGet}, ipn.ConfigurationUnconfirmed, unread + "longer than 1048576 bytes", ""},
		{control.APIFault{Answer: "slow", Delay: "1s"}, ipn.ConfigurationInSync, "notification configuration: as desired", "1"},
		{control.APIFault{Answer: "hang"}, "", "", "1"}, // for longer than this test waits
	}
	if err := s.API.Set([]control.APIFault{faults[0].APIFault}); err != nil {
		t.Fatal(err)
	}
	r := start(t, append(s.env(dsn), "IPN_CONFIGURE_INTERVAL=1s", "IPN_VERIFICATION=observe")...)
	for n, f := range faults {
		t.Run(f.Answer, func(t *testing.T) {
			if err := s.API.Set([]control.APIFault{f.APIFault}); err != nil {
				t.Fatal(err)
			}
			before, seen := r.counted(f.result), len(s.API.History("", "/services/2/notification-config/", 10_000))
			eventually(t, "the payment service is asked", func() bool { return len(s.API.History("", "/services/2/notification-config/", 10_000)) > seen })
			if response := r.post(fmt.Sprintf("transactionType=CHARGE&referenceNumber=%d", n), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}); response.StatusCode != http.StatusOK {
				t.Errorf("a post was answered %d", response.StatusCode)
			}
			if r.getStatus("/readyz") != http.StatusOK {
				t.Error("the receiver is not ready")
			}
			if f.result != "" {
				eventually(t, "the metric tells "+f.result, func() bool { return r.counted(f.result) != before })
				r.await(f.says)
			}
			if inSync := regexp.MustCompile(`(?m)^ipn_configuration_in_sync (\d)$|\z`).FindStringSubmatch(r.get("/metrics")); inSync[1] != f.inSync {
				t.Errorf("the metric says in sync: %q, want %q", inSync[1], f.inSync)
			}
		})
	}
	if err := s.API.Set(nil); err != nil {
		t.Fatal(err)
	}
}

// TestAPaymentServiceThatComesUpLaterIsToldThen begins with a port at which nobody listens.
func TestAPaymentServiceThatComesUpLaterIsToldThen(t *testing.T) {
	t.Parallel()
	s, dsn := simulate(t, ""), pgtest.Own(t).DSN()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := nobody.Addr().String()
	nobody.Close()
	r := start(t, append(s.env(dsn), "IPN_PAYMENTS_URL=http://"+address, "IPN_CONFIGURE_INTERVAL=1s")...)
	r.await("the payment service cannot be asked; trying again, intake goes on.*the connection was refused")
	eventually(t, "the metric tells", func() bool {
		return r.counted(ipn.ConfigurationFailed) >= `ipn_configuration_push_total{result="failed"} 1`
	})
	if strings.Contains(r.get("/metrics"), "ipn_configuration_in_sync ") {
		t.Error("the metric knows what nobody knows")
	}
	door, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	up := &http.Server{Handler: s.Handler()}
	go func() { _ = up.Serve(door) }() // until Close
	t.Cleanup(func() { up.Close() })
	eventually(t, "the configuration is pushed", func() bool { url, on := s.flags(); return on == 28 && url == r.intake })
	r.await("notification configuration: replaced by the desired one")
	eventually(t, "the metric tells", func() bool { return strings.Contains(r.get("/metrics"), "ipn_configuration_in_sync 1") })
}

// TestAReceiverThatIsToldNotToLookAsksNothing: the credential may be there for the command alone.
func TestAReceiverThatIsToldNotToLookAsksNothing(t *testing.T) {
	t.Parallel()
	s, dsn := simulate(t, ""), pgtest.Own(t).DSN()
	r := start(t, append(s.env(dsn), "IPN_CONFIGURE=off", "IPN_CONFIGURE_INTERVAL=1s", "IPN_VERIFICATION=observe")...)
	if response := r.post("transactionType=CHARGE&referenceNumber=1", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}); response.StatusCode != http.StatusOK {
		t.Errorf("a post was answered %d", response.StatusCode)
	}
	if state := r.configuration(); state.Mode != "off" || state.Result != "" || state.InSync != nil {
		t.Errorf("the API tells %+v", state)
	}
	if strings.Contains(r.get("/metrics"), "ipn_configuration_") {
		t.Error("there is a metric of what is not looked at")
	}
	if err := r.command.Process.Signal(syscall.SIGTERM); err != nil { // all that it had begun it would finish, or give up
		t.Fatal(err)
	}
	_ = r.command.Wait()
	if said := s.API.History("", "", 10); len(said) != 0 {
		t.Errorf("the payment service was asked: %+v", said)
	}
	if told := asked(t, dsn, "select count(*)::text from configuration_pushes"); told != "0" {
		t.Errorf("%s looks are recorded", told)
	}
}

// TestOffLasts: nothing is asked at any later time either.
func TestOffLasts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := new(away)
		c := &configurer{mode: configureOff, interval: time.Minute, log: zap.NewNop(), now: time.Now,
			looks: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "looks"}, []string{"result"})}
		c.service, c.desired = service, payments.NotificationConfiguration{Destinations: []payments.NotificationDestination{{URL: "https://hooks.example/ipn"}}}
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		if c.run(ctx); service.asked != 0 {
			t.Errorf("it was asked %d times", service.asked)
		}
	})
}

// counted is what the metric of the pushes says of a result.
func (r *running) counted(result string) string {
	r.tb.Helper()
	return regexp.MustCompile(`ipn_configuration_push_total\{result="` + result + `"\} (\d+)|$`).FindString(r.get("/metrics"))
}

func TestAConfigurationThatCannotBeReadIsPushedOnce(t *testing.T) {
	t.Parallel()
	s, dsn := simulate(t, ""), pgtest.Own(t).DSN()
	if err := s.API.Set([]control.APIFault{{Answer: "garbage", Method: http.MethodGet}}); err != nil {
		t.Fatal(err)
	}
	env := append(s.env(dsn), "IPN_CONFIGURE_INTERVAL=1s", "IPN_PUBLIC_URL=https://hooks.example/ipn")
	for range 2 { // a restart changes nothing
		r := start(t, env...)
		eventually(t, "it has looked three times", func() bool {
			return regexp.MustCompile(`ipn_configuration_push_total\{result="unconfirmed"\} [3-9]`).MatchString(r.get("/metrics"))
		})
		if err := r.command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = r.command.Wait()
	}
	if n := s.asked(http.MethodPost); n != 1 {
		t.Errorf("the configuration was pushed %d times, want once", n)
	}
	if _, on := s.flags(); on != 28 {
		t.Errorf("%d flags are on, want all", on)
	}
}

// TestAKillBeforeOrAfterThePushEndsInTheSameState lets the process die while its push is on the way, done or not done.
func TestAKillBeforeOrAfterThePushEndsInTheSameState(t *testing.T) {
	t.Parallel()
	for name, done := range map[string]bool{"before the push is done": false, "after it is done": true} {
		t.Run(name, func(t *testing.T) {
			s, dsn := simulate(t, ""), pgtest.Own(t).DSN()
			if err := s.API.Set([]control.APIFault{{Answer: "hang", Method: http.MethodPost, Done: done, Times: 1}}); err != nil {
				t.Fatal(err)
			}
			env := append(s.env(dsn), "IPN_PUBLIC_URL=https://hooks.example/ipn")
			r := launch(t, env...)
			eventually(t, "the push is on its way", func() bool {
				_, on := s.flags()
				return len(s.API.History(http.MethodPost, "/services/2/notification-config/", 10)) == 1 && (on == 28) == done
			})
			if err := r.command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			start(t, env...).await("notification configuration: (as desired|replaced)")
			if url, on := s.flags(); url != "https://hooks.example/ipn" || on != 28 {
				t.Errorf("got %s with %d flags", url, on)
			}
		})
	}
}

func TestTheCredentialIsNowhereToBeSeen(t *testing.T) {
	t.Parallel()
	s, dsn := simulate(t, ""), pgtest.Own(t).DSN()
	r := start(t, append(s.env(dsn), "IPN_LOG_LEVEL=debug", "IPN_CONFIGURE_INTERVAL=1s")...)
	eventually(t, "the configuration is pushed", func() bool { _, on := s.flags(); return on == 28 })
	if err := s.API.Set([]control.APIFault{{Answer: "401"}}); err != nil {
		t.Fatal(err)
	}
	r.await("the payment service cannot be asked")
	places := map[string]string{
		"log": r.said(), "metrics": r.get("/metrics"), "API": r.get("/api/v1/configuration"), "index": r.get("/"), "description": r.get("/openapi.json"),
		"record": asked(t, dsn, "select string_agg(to_jsonb(p)::text, ' ') from configuration_pushes p"),
	}
	for _, file := range []string{"environ", "cmdline"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", r.command.Process.Pid, file))
		if err != nil {
			t.Logf("%s of the process is not looked at: %v", file, err)
			continue
		}
		places[file] = string(text)
	}
	for place, text := range places {
		for _, secret := range []string{simulatorPassword, simulatorKey, base64.StdEncoding.EncodeToString([]byte("paysim:" + simulatorPassword))} {
			if strings.Contains(text, secret) {
				t.Errorf("the %s shows %s", place, secret)
			}
		}
		if text == "" {
			t.Errorf("the %s is empty: nothing was looked at", place)
		}
	}
}
