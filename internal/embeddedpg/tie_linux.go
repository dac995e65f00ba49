package embeddedpg

import (
	"os/exec"
	"syscall"
)

// startTied starts cmd so that the kernel sends it the signal when the calling
// thread ends. The caller has locked its goroutine to the thread.
func startTied(cmd *exec.Cmd, gone syscall.Signal) (untie func(), err error) {
	cmd.SysProcAttr.Pdeathsig = gone
	return func() {}, cmd.Start()
}
