package taint

// This file joins states where ways of the control flow meet.

// merge joins b into a copy of a; changed tells whether that says more than a did.
func (a *analysis) merge(into, from *state) (out *state, changed bool) {
	if into == nil {
		return from.clone(), true
	}
	out = into
	own := func() {
		if out == into {
			out = into.clone()
		}
	}
	for i, v := range from.vars {
		old := into.vars[i]
		if j := join(old, v); j != old {
			own()
			out.vars[i] = j
			changed = changed || !j.same(old)
		}
	}
	if t := into.control.union(from.control); !t.same(into.control) {
		own()
		out.control, changed = t, true
	}
	n := max(len(into.heap), len(from.heap))
	for i := 0; i < n; i++ {
		id := objID(i)
		old := into.object(id)
		if j := a.mergeObject(id, old, from.object(id)); j != old {
			own()
			out.put(id, j)
			changed = changed || !j.same(old)
		}
	}
	return out, changed
}

// mergeObject joins two states of an object.
func (a *analysis) mergeObject(id objID, o, p *object) *object {
	if o == p {
		return o
	}
	info := &a.objects[id]
	if o == nil || p == nil {
		if info.atom == nil { // made on one way only
			if o == nil {
				return p
			}
			return o
		}
	}
	if o == nil {
		o = &object{size: unsized}
	} else if p == nil {
		p = &object{size: unsized}
	}
	if o.same(p) {
		return o
	}
	return a.joinObjects(info, o, p)
}

func (a *analysis) joinObjects(info *objInfo, o, p *object) *object {
	j := &object{
		elems: join(o.elems, p.elems), keys: join(o.keys, p.keys), self: o.self.union(p.self),
		text: join(o.text, p.text), size: o.size, many: o.many || p.many,
	}
	if o.size != p.size {
		o, p = o.clone(), p.clone()
		o.blur()
		p.blur()
		j.elems, j.size = join(o.elems, p.elems), unsized
	}
	missing := func(name string) *value {
		if info.atom != nil {
			return a.part(info.atom, name)
		}
		return unknown
	}
	i, k := 0, 0
	for i < len(o.fields) || k < len(p.fields) {
		switch {
		case k == len(p.fields) || i < len(o.fields) && o.fields[i].name < p.fields[k].name:
			f := o.fields[i]
			j.fields = append(j.fields, field{f.name, join(f.val, missing(f.name))})
			i++
		case i == len(o.fields) || p.fields[k].name < o.fields[i].name:
			f := p.fields[k]
			j.fields = append(j.fields, field{f.name, join(missing(f.name), f.val)})
			k++
		default:
			j.fields = append(j.fields, field{o.fields[i].name, join(o.fields[i].val, p.fields[k].val)})
			i, k = i+1, k+1
		}
	}
	if j.same(o) {
		return o
	}
	return j
}
