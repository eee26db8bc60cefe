package agent

import "slices"

// lessonsAboutTool is what the model reads before lessons about a tool.
const lessonsAboutTool = "What was learned from other tasks here about this tool. " + onlyInform

// meetLessons adds to a tool's first call the brief's lessons about the tool, those that are withheld by their
// ids alone. A lesson about two tools is met with the one that is called first.
func (r *builtinRun) meetLessons(c *Call) {
	if _, offered := r.toolNamed(c.Name); !offered {
		return // nothing was called
	}
	var texts []string
	for _, l := range r.in.Brief.ToolLessons {
		if l.Tool != c.Name || slices.Contains(r.res.LessonsShown, l.ID) || slices.Contains(r.res.LessonsWithheld, l.ID) {
			continue
		}
		if l.Withheld {
			c.LessonsWithheld = append(c.LessonsWithheld, l.ID)
		} else {
			c.LessonsShown = append(c.LessonsShown, l.ID)
			texts = append(texts, l.Text)
		}
	}
	if len(texts) > 0 {
		c.Lessons = lessonsAboutTool + "\n\n" + wrapUntrusted("lessons", bulletList(texts, mostStep))
	}
	r.countLessons(*c)
}

// countLessons counts what a call met as the attempt's, also one that another process made.
func (r *builtinRun) countLessons(c Call) {
	r.res.LessonsShown = append(r.res.LessonsShown, c.LessonsShown...)
	r.res.LessonsWithheld = append(r.res.LessonsWithheld, c.LessonsWithheld...)
}

// read is what the model reads of the call's result.
func (c Call) read() string {
	if c.Lessons == "" {
		return c.Result
	}
	return c.Result + "\n\n" + c.Lessons
}
