//go:build unix

package server

import "syscall"

// descriptorReserve is what a listener leaves to the rest of the process:
// standard streams, poller, the listeners, a database pool of ten.
const descriptorReserve = 20

// withinDescriptors lowers the wanted number of connections (0: as many as
// possible) to what the process may open. It returns 0 where that is unknown and
// nothing was wanted.
func withinDescriptors(wanted int) int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return wanted
	}
	const unlimited = 1 << 20
	allowed := max(int(min(uint64(limit.Cur), unlimited))-descriptorReserve, 1)
	if wanted <= 0 {
		return allowed
	}
	return min(wanted, allowed)
}
