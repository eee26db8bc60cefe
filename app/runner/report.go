package runner

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// TurnNumber is the query parameter with the number of a report, from 1 for each pass.
const TurnNumber = "n"

// receive reads a body of at most most bytes, after waiting for one of slots unless the body is small. If ok is false,
// it has answered the request with an error.
func receive(w http.ResponseWriter, r *http.Request, slots chan struct{}, most int64) (body []byte, ok bool) {
	if r.ContentLength < 0 || r.ContentLength > smallBody {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-r.Context().Done():
			return nil, false
		}
	}
	control := http.NewResponseController(w)
	until := time.Now().Add(UploadTimeout)
	_ = control.SetWriteDeadline(until.Add(BodyTimeout))
	body, err := io.ReadAll(&deadlineReader{http.MaxBytesReader(w, r.Body, most), control, until})
	_ = control.SetReadDeadline(time.Now().Add(BodyTimeout)) // for the rest of the request
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		writeError(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("at most %d bytes are taken", most))
		return nil, false
	case err != nil:
		writeError(w, http.StatusRequestTimeout, "the request did not come whole") // the runner tries again
		return nil, false
	}
	return body, true
}

// deadlineReader extends the read deadline for each chunk, but not beyond a time.
type deadlineReader struct {
	io.Reader
	control *http.ResponseController
	until   time.Time
}

// Read implements io.Reader.
func (p *deadlineReader) Read(b []byte) (int, error) {
	next := time.Now().Add(chunkTimeout)
	if next.After(p.until) {
		next = p.until
	}
	_ = p.control.SetReadDeadline(next)
	return p.Reader.Read(b)
}

// turn takes a turn, and answers when the turn is in the transcript.
func (h *Handler) turn(w http.ResponseWriter, r *http.Request, a claim) {
	ctx := r.Context()
	number, err := strconv.Atoi(r.URL.Query().Get(TurnNumber))
	if err != nil || number < 1 {
		writeError(w, http.StatusBadRequest, "the report has no number")
		return
	}
	if _, err := h.Store.RenewAttempt(ctx, a.pass, h.Lease); err != nil { // do not read the body of an invalid pass
		h.refuseAttempt(w, r, err)
		return
	}
	body, ok := receive(w, r, h.turns, MaxTurn)
	if !ok {
		return
	}
	if _, err := decodeTurn(body); err != nil {
		writeError(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	if err := h.Store.ReportTurn(ctx, a.pass, number, body); err != nil {
		h.refuseAttempt(w, r, err)
		return
	}
	h.changes.notify()
	stop := false
	taken, err := h.await(ctx, takeWait, func() (bool, error) {
		taken, err := h.Store.TakenTurns(ctx, a.pass)
		if err != nil || taken < number {
			return false, err
		}
		stop, err = h.Store.RenewAttempt(ctx, a.pass, h.Lease)
		return true, err
	})
	switch {
	case err != nil:
		h.refuseAttempt(w, r, err)
	case !taken:
		w.Header().Set("Retry-After", "1")
		writeError(w, http.StatusServiceUnavailable, "the server that has the attempt did not take the turn yet; try again")
	default:
		writeJSON(w, Heartbeat{Stop: stop})
	}
}

// JoinResult encodes the body of a result: the length of the outcome, the outcome as JSON, and the pack.
func JoinResult(outcome, pack []byte) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(outcome))), outcome...), pack...)
}

// splitResult is the inverse of JoinResult.
func splitResult(b []byte) (outcome, pack []byte, err error) {
	if len(b) < 4 {
		return nil, nil, io.ErrUnexpectedEOF
	}
	n := int64(binary.BigEndian.Uint32(b))
	if b = b[4:]; n > MaxResult || n > int64(len(b)) || int64(len(b))-n > MaxPack {
		return nil, nil, errors.New("its parts are larger than may be")
	}
	return bytes.Clone(b[:n]), b[n:], nil
}

// result takes the result of an attempt.
func (h *Handler) result(w http.ResponseWriter, r *http.Request, a claim) {
	h.takeResult(w, r, a, h.Store.FinishAttempt)
}

// change takes the change of a running attempt, about which its runner asks.
func (h *Handler) change(w http.ResponseWriter, r *http.Request, a claim) {
	h.takeResult(w, r, a, h.Store.AskAboutChange)
}

// takeResult takes what an attempt did so far, or at its end, and stores it.
func (h *Handler) takeResult(w http.ResponseWriter, r *http.Request, a claim,
	save func(ctx context.Context, pass string, outcome, pack []byte) error,
) {
	ctx := r.Context()
	if _, err := h.Store.RenewAttempt(ctx, a.pass, h.Lease+BodyTimeout); err != nil {
		h.refuseAttempt(w, r, err)
		return
	}
	most := int64(4 + MaxResult + MaxPack)
	if a.TestsOf != "" {
		most = 4 + MaxResult // it changes nothing
	}
	body, ok := receive(w, r, h.uploads, most)
	if !ok {
		return
	}
	outcome, pack, err := splitResult(body)
	if err == nil {
		_, err = decodeOutcome(outcome)
	}
	if err != nil {
		writeError(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	if len(pack) == 0 {
		pack = nil
	}
	if err := save(ctx, a.pass, outcome, pack); err != nil {
		h.refuseAttempt(w, r, err)
		return
	}
	h.changes.notify()
	w.WriteHeader(http.StatusNoContent)
}

// changeAnswer answers a runner that asked about its change, as soon as the owner has judged it.
func (h *Handler) changeAnswer(w http.ResponseWriter, r *http.Request, a claim) {
	ctx := r.Context()
	var answer []byte
	answered, err := h.await(ctx, takeWait, func() (answered bool, err error) {
		answer, answered, err = h.Store.ChangeAnswer(ctx, a.pass)
		return answered, err
	})
	switch {
	case err != nil:
		h.refuseAttempt(w, r, err)
	case !answered:
		w.Header().Set("Retry-After", "1")
		writeError(w, http.StatusServiceUnavailable, "the attempt's server did not judge the change yet; ask again")
	default:
		writeJSON(w, json.RawMessage(answer))
	}
}
