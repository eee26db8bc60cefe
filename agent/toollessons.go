package agent

import "slices"

// lessonsAboutTool introduces lessons about a tool.
const lessonsAboutTool = "What was learned from other tasks here about this tool. " + onlyInform

// addLessons adds the brief's lessons about a tool to its first call, or only their IDs if they are withheld. A lesson
// about two tools is added to the one that is called first.
func (r *builtinRun) addLessons(c *Call) {
	if _, offered := r.toolNamed(c.Name); !offered {
		return // no tool was called
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
		c.Lessons = lessonsAboutTool + "\n\n" + wrapUntrusted("lessons", bulletList(texts, maxStep))
	}
	r.countLessons(*c)
}

// countLessons adds the lessons of a call, also of a call before a resume, to the attempt's result.
func (r *builtinRun) countLessons(c Call) {
	r.res.LessonsShown = append(r.res.LessonsShown, c.LessonsShown...)
	r.res.LessonsWithheld = append(r.res.LessonsWithheld, c.LessonsWithheld...)
}

// modelText returns the text of the result for the model.
func (c Call) modelText() string {
	if c.Lessons == "" {
		return c.Result
	}
	return c.Result + "\n\n" + c.Lessons
}
