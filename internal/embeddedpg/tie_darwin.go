package embeddedpg

import (
	"os/exec"
	"strconv"
	"syscall"
)

// startTied starts cmd and a watchdog beside it, since macOS has no signal for
// the end of a parent: a shell reads from a pipe whose other end only this
// process holds, and sends the signal when the reading ends.
func startTied(cmd *exec.Cmd, gone syscall.Signal) (untie func(), err error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	const watch = `while read -r _; do :; done; kill -"$1" "$2"`
	dog := exec.Command("/bin/sh", "-c", watch, "sh", strconv.Itoa(int(gone)), strconv.Itoa(cmd.Process.Pid))
	dog.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: cmd.SysProcAttr.Credential}
	leash, err := dog.StdinPipe()
	if err == nil {
		err = dog.Start()
	}
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		return nil, err
	}
	return func() {
		// The child has ended; its number may be another's soon.
		dog.Process.Kill()
		leash.Close()
		dog.Wait()
	}, nil
}
