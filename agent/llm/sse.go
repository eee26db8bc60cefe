package llm

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// eventReader reads the data of server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). Event names,
// ids and comments, with which gateways keep a connection alive, are passed over.
type eventReader struct{ in *bufio.Reader }

// nextData returns the data of the next event, without its lines' ends. It returns
// io.EOF when the stream ends.
func (e *eventReader) nextData() ([]byte, error) {
	var data []byte
	has := false
	for {
		line, err := e.in.ReadBytes('\n')
		text := bytes.TrimRight(line, "\r\n")
		switch value, is := bytes.CutPrefix(text, []byte("data:")); {
		case is:
			if has {
				data = append(data, '\n')
			}
			data, has = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
		case len(text) == 0 && has && err == nil:
			return data, nil
		}
		if err != nil {
			if has && errors.Is(err, io.EOF) && len(bytes.TrimSpace(data)) > 0 { // some servers leave the last empty line out
				return data, nil
			}
			return nil, err
		}
	}
}
