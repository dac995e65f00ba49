package publish_test

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
)

// cluster runs three servers that know each other. JetStream wants to know at the start how many they are, so that the
// ports of their routes are found before.
func cluster(t *testing.T) []*server.Server {
	t.Helper()
	ports := free(t, 3)
	var routes []*url.URL
	for _, port := range ports {
		routes = append(routes, &url.URL{Scheme: "nats", Host: "127.0.0.1:" + strconv.Itoa(port)})
	}
	servers := make([]*server.Server, len(ports))
	for number, port := range ports {
		servers[number] = broker(t, func(o *server.Options) {
			o.ServerName = fmt.Sprintf("node-%d", number)
			o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: port}
			o.Routes = routes
		})
	}
	return servers
}

// free finds ports that nobody listens on now.
func free(t *testing.T, count int) []int {
	t.Helper()
	var ports []int
	for range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// leader returns the server that leads the stream, or an error while none does.
func leader(servers []*server.Server) (*server.Server, error) {
	for _, s := range servers {
		if s.JetStreamIsStreamLeader("$G", "IPN") {
			return s, nil
		}
	}
	return nil, errors.New("no server leads the stream")
}

// TestAClusterThatLosesItsLeaderKeepsEachEventOnce publishes from eight lanes, each of which tries an event until it is
// taken, as the dispatcher does. In the middle the leader of the stream goes down, which is also the only server the
// sink was told about. Every event must be in the stream, and once: some are stored although the answer is lost, and
// come again.
func TestAClusterThatLosesItsLeaderKeepsEachEventOnce(t *testing.T) {
	t.Parallel()
	const lanes, each = 8, 80
	servers := cluster(t)
	js := consumer(t, servers[0].ClientURL())
	eventually(t, "the stream is made", func() error {
		_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "IPN", Subjects: []string{"ipn.events.>"}, Replicas: 3})
		return err
	})
	var first *server.Server
	eventually(t, "the stream has a leader", func() (err error) {
		first, err = leader(servers)
		return err
	})
	sink := bus(t, first.ClientURL(), impatient)
	var sent, failed atomic.Int64
	half := make(chan struct{})
	var wait sync.WaitGroup
	for lane := range lanes {
		wait.Go(func() {
			for number := range each {
				event := charge(int64(lane*each+number+1), strconv.Itoa(lane))
				err := insist(func() error {
					err := sink.Send(t.Context(), event)
					if err != nil {
						failed.Add(1)
					}
					return err
				})
				if err != nil {
					t.Errorf("event %d: %v", event.ID, err)
				}
				if sent.Add(1) == lanes*each/2 {
					close(half)
				}
			}
		})
	}
	<-half
	halt(first)
	wait.Wait()
	if failed.Load() == 0 {
		t.Error("no attempt failed: the server was not missed, and nothing was tested")
	}
	isEachOnce(t, servers, first, lanes*each)
}

// isEachOnce looks at the stream from a server that lived on.
func isEachOnce(t *testing.T, servers []*server.Server, gone *server.Server, want int) {
	t.Helper()
	for _, s := range servers {
		if s == gone {
			continue
		}
		in, err := consumer(t, s.ClientURL()).Stream(t.Context(), "IPN")
		must(t, err)
		times := make(map[string]int)
		for _, message := range kept(t, in) {
			times[message.Header.Get("ce-id")]++
		}
		for id := 1; id <= want; id++ {
			if times[strconv.Itoa(id)] != 1 {
				t.Errorf("event %d is in the stream %d times", id, times[strconv.Itoa(id)])
			}
		}
		return
	}
}
