package cli

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"time"

	"github.com/alecthomas/kong"
)

// values returns kong mappers that report in plain words what is wrong with a value.
func values() []kong.Option {
	std := kong.NewRegistry().RegisterDefaults()
	var all []kong.Option
	kinds := func(want string, of ...any) {
		for _, v := range of {
			t := reflect.TypeOf(v)
			all = append(all, kong.KindMapper(t.Kind(), valueMapper{std.ForType(t), want}))
		}
	}
	kinds("", "")
	kinds("no whole number", 0, int8(0), int16(0), int32(0), int64(0))
	kinds("no whole number from 0", uint(0), uint8(0), uint16(0), uint32(0), uint64(0))
	kinds("no number", float32(0), float64(0))
	for _, name := range []string{"path", "existingfile", "existingdir"} {
		all = append(all, kong.NamedMapper(name, valueMapper{inner: std.ForNamedValue(name, reflect.ValueOf(""))}))
	}
	duration := reflect.TypeFor[time.Duration]()
	return append(all,
		kong.TypeMapper(duration, valueMapper{std.ForType(duration), "no duration; write it such as 90s, 15m or 2h"}),
		Checked("web", CheckWebAddress))
}

// CheckWebAddress returns an error unless s is an http or https address. Flags that hold one have the tag `type:"web"`.
func CheckWebAddress(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q is no http or https address", s)
	}
	return nil
}

// valueMapper decodes a value with another mapper and replaces its error message.
type valueMapper struct {
	inner kong.Mapper
	want  string // description of an unreadable value, such as "no number"; empty: the inner mapper's error
}

// Decode reads the value of a flag or an argument.
func (m valueMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	t := ctx.Scan.Peek()
	switch {
	case t.IsEOL():
		return errors.New("its value is missing")
	case !t.IsValue():
		return fmt.Errorf("%q looks like a flag; if it is the value, write it behind an equals sign", t)
	}
	err := m.inner.Decode(ctx, target)
	if err != nil && m.want != "" {
		return fmt.Errorf("%q is %s", t, m.want)
	}
	if err != nil {
		return err
	}
	return inRange(ctx.Value.Tag, t, target)
}

// inRange returns an error for a number or a duration below the tag min or above the tag max of its field.
func inRange(tag *kong.Tag, given kong.Token, target reflect.Value) error {
	low, high := tag.Get("min"), tag.Get("max")
	switch {
	case (low == "" || number(target) >= bound(low, target)) && (high == "" || number(target) <= bound(high, target)):
		return nil
	case high == "":
		return fmt.Errorf("%q is too little; give at least %s", given, low)
	}
	return fmt.Errorf("%q is out of range; give %s to %s", given, low, high)
}

// bound returns the number of a tag, or its duration if the target is one.
func bound(s string, target reflect.Value) float64 {
	if d, err := time.ParseDuration(s); err == nil && target.Type() == reflect.TypeFor[time.Duration]() {
		return float64(d)
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err) // the tag is ours
	}
	return n
}

func number(v reflect.Value) float64 {
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	case v.CanFloat():
		return v.Float()
	}
	return 0
}

// Checked registers a named type of strings, for the tag type. The command line is refused if check returns an error.
// An empty flag is not checked: it means the default.
func Checked(name string, check func(string) error) kong.Option {
	std := valueMapper{inner: kong.NewRegistry().RegisterDefaults().ForType(reflect.TypeFor[string]())}
	return kong.NamedMapper(name, kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		var s string
		if err := std.Decode(ctx, reflect.ValueOf(&s).Elem()); err != nil {
			return err
		}
		if s != "" || ctx.Value.Flag == nil {
			if err := check(s); err != nil {
				return err
			}
		}
		target.SetString(s)
		return nil
	}))
}
