//go:build linux || darwin

package embeddedpg

// NeededPackages is what fetchApt takes out of a simulated installation.
var NeededPackages = neededPackages

// OnlyFetchBy leaves one way to fetch, by the beginning of its name, until the
// function it returns is called.
func OnlyFetchBy(name string) (restore func()) {
	all := ways
	for _, w := range all {
		if len(w.name) >= len(name) && w.name[:len(name)] == name {
			ways = []way{w}
		}
	}
	return func() { ways = all }
}
