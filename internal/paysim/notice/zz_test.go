package notice_test
import ("testing";"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice")
func BenchmarkSample(b *testing.B){ for i:=range b.N { notice.Sample("CHARGE",uint64(i),at,"").Encode()}}
