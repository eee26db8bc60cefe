package memory

import "encoding/json"

// upgradeFile returns a JSON file converted to version 2. In version 1, sia_intervention of a failed attempt held both
// the diagnosis and the changes for the next attempt. Unknown fields stay with the diagnosis.
func upgradeFile(file []byte) ([]byte, error) {
	var about struct {
		SchemaVersion int `json:"schema_version"`
	}
	if err := json.Unmarshal(file, &about); err != nil || about.SchemaVersion != 1 {
		return file, err
	}
	var f map[string]json.RawMessage
	if err := json.Unmarshal(file, &f); err != nil {
		return nil, err
	}
	var attempts []map[string]json.RawMessage
	if err := json.Unmarshal(f["attempts"], &attempts); err != nil {
		return nil, err
	}
	changed := json.RawMessage("null") // for the current attempt
	for i, a := range attempts {
		var found map[string]json.RawMessage
		if err := json.Unmarshal(a["sia_intervention"], &found); err != nil {
			return nil, err
		}
		a["sia_intervention"], a["diagnosis_after"] = changed, json.RawMessage("null")
		changed = json.RawMessage("null")
		if found == nil {
			continue
		}
		next := map[string]json.RawMessage{}
		for _, key := range []string{"technique_applied", "prompt_modification", "resolved"} {
			if v, ok := found[key]; ok {
				next[key] = v
				delete(found, key)
			}
		}
		found["technique"] = next["technique_applied"]
		if i == len(attempts)-1 { // there is no next attempt
			found["prompt_modification"] = next["prompt_modification"]
		}
		var err error
		if changed, err = encodeJSON(next); err != nil {
			return nil, err
		}
		if a["diagnosis_after"], err = encodeJSON(found); err != nil {
			return nil, err
		}
	}
	var err error
	if f["attempts"], err = encodeJSON(attempts); err != nil {
		return nil, err
	}
	f["schema_version"] = json.RawMessage("2")
	return encodeJSON(f)
}
