package export

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Kept is what can be kept of a file that was cut off.
type Kept struct {
	Size int64          // bytes, from the beginning; 0 where no row is whole: then it is begun anew
	Rows int64          // whole rows in them
	Mark ipn.ExportMark // behind the last of these
}

// ErrOtherFile says that a file was not begun by such an export.
var ErrOtherFile = errors.New("it was begun by another export: of other rows, in another format or by another release")

// Keep reads a file as far as it got, and finds the end of its last whole row. Whatever stands behind that is part of a row,
// and the row comes again. It fails with ErrOtherFile, or as reading does.
func Keep(file io.Reader, of Subject, format Format) (kept Kept, err error) {
	s := scan{from: bufio.NewReaderSize(file, 64<<10), format: format}
	if format == CSV {
		whole, err := s.skipHead(of)
		if err != nil || !whole {
			return Kept{}, err
		}
	}
	var last []byte
	for {
		whole, err := s.row()
		if err != nil {
			return Kept{}, err
		}
		if !whole {
			break
		}
		last = append(last[:0], s.begin...)
		kept.Size, kept.Rows = s.read, kept.Rows+1
	}
	if kept.Rows > 0 {
		kept.Mark, err = markOf(last, of, format)
	}
	return kept, err
}

// scan goes through a file row by row.
type scan struct {
	from   *bufio.Reader
	format Format
	read   int64  // bytes, up to the end of the last row
	begin  []byte // of that row
}

// beginning is how much of a row is looked at: its numbers.
const beginning = 64

// row reads to the end of a row, and returns false at the end of the file. A line ends where no quotes are open.
func (s *scan) row() (whole bool, err error) {
	s.begin = s.begin[:0]
	quoted, last := false, byte(0)
	for n := int64(1); ; n++ {
		c, err := s.from.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("read what is there: %w", err)
		case c == '"' && s.format == CSV:
			quoted = !quoted
		case c == '\n' && !quoted && (s.format == JSONL || last == '\r'):
			s.read += n
			return true, nil
		}
		if len(s.begin) < beginning {
			s.begin = append(s.begin, c)
		}
		last = c
	}
}

// skipHead reads the row of names, with or without the byte order mark, and returns false where it is not whole.
func (s *scan) skipHead(of Subject) (whole bool, err error) {
	l := &lines{format: CSV}
	l.head(&Question{Of: of})
	mark, _ := s.from.Peek(len(byteOrderMark))
	switch {
	case string(mark) == byteOrderMark:
		_, _ = s.from.Discard(len(mark))
		s.read += int64(len(mark))
	case bytes.HasPrefix([]byte(byteOrderMark), mark):
		return false, nil
	}
	head := make([]byte, len(l.buffer))
	n, err := io.ReadFull(s.from, head)
	if !bytes.Equal(head[:n], l.buffer[:n]) {
		return false, ErrOtherFile
	}
	if err != nil {
		return false, nil
	}
	s.read += int64(n)
	return true, nil
}

// markOf reads the numbers that a row begins with.
func markOf(begin []byte, of Subject, format Format) (mark ipn.ExportMark, err error) {
	mark.Line = ipn.WholeEvent
	var n int
	switch {
	case of == Events && format == CSV:
		n, err = fmt.Sscanf(string(begin), "%d,", &mark.EventID)
	case of == Events:
		n, err = fmt.Sscanf(string(begin), `{"id":%d,`, &mark.EventID)
	case format == CSV:
		n, err = fmt.Sscanf(string(begin), "%d,%d,", &mark.EventID, &mark.Line)
	default:
		n, err = fmt.Sscanf(string(begin), `{"eventId":%d,"line":%d,`, &mark.EventID, &mark.Line)
	}
	if err != nil || n == 0 || mark.EventID < 1 {
		return ipn.ExportMark{}, ErrOtherFile
	}
	return mark, nil
}
