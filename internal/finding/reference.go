package finding

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// This file derives from the CWE of a rule what other catalogs call it, so that no rule
// has to repeat it: OWASP Top 10 of 2021 and 2025, OWASP API Security Top 10 of 2023 and
// OWASP ASVS 5.0.

// AddReferences completes OWASP and ASVS from CWE. What the rule names already stays: a rule
// that names a category of an edition gets no other of that edition.
func (r *Rule) AddReferences() {
	r.addCategory(":2021")
	if !r.addCategory(":2025") {
		r.addSuccessor()
	}
	isApplication := r.Analysis == SAST || r.Analysis == DAST || r.Analysis == API
	if isApplication {
		r.addCategory(":2023")
	}
	if len(r.ASVS) == 0 && (isApplication || r.Analysis == Secret || r.Analysis == SCA) {
		for _, cwe := range r.CWE {
			for _, requirement := range asvsByCWE[cwe] {
				if !slices.Contains(r.ASVS, requirement) {
					r.ASVS = append(r.ASVS, requirement)
				}
			}
		}
	}
}

// addCategory adds the category of the edition that the first mapped CWE belongs to, and
// reports whether the rule has one of that edition.
func (r *Rule) addCategory(edition string) bool {
	if slices.ContainsFunc(r.OWASP, func(s string) bool { return strings.HasSuffix(s, edition) }) {
		return true
	}
	for _, cwe := range r.CWE {
		index := referencesByCWE()[edition]
		if category := cmp.Or(index[cwe], index[alike[cwe]]); category != "" {
			r.OWASP = append(slices.Clip(r.OWASP), category)
			return true
		}
	}
	return false
}

// addSuccessor adds the category of 2025 that took over the rule's category of 2021.
func (r *Rule) addSuccessor() {
	for _, category := range r.OWASP {
		if successor := successors[category]; successor != "" {
			r.OWASP = append(slices.Clip(r.OWASP), successor)
			return
		}
	}
}

// referencesByCWE inverts categories: edition, then CWE, to category.
var referencesByCWE = sync.OnceValue(func() map[string]map[string]string {
	out := map[string]map[string]string{}
	for category, numbers := range categories {
		edition := category[strings.Index(category, ":"):]
		if out[edition] == nil {
			out[edition] = map[string]string{}
		}
		for _, n := range numbers {
			out[edition]["CWE-"+strconv.Itoa(n)] = category
		}
	}
	return out
})

// successors maps the categories of 2021 to those of 2025, for weaknesses that the lists of
// 2025 leave out. Source: "What's changed", OWASP Top 10:2025.
var successors = map[string]string{
	"A01:2021": "A01:2025", "A02:2021": "A04:2025", "A03:2021": "A05:2025", "A04:2021": "A06:2025",
	"A05:2021": "A02:2025", "A06:2021": "A03:2025", "A07:2021": "A07:2025", "A08:2021": "A08:2025",
	"A09:2021": "A09:2025", "A10:2021": "A01:2025",
}

// categories lists the CWEs of each category, as the section "List of Mapped CWEs" of each
// page of the OWASP Top 10 of 2021 and 2025 has them. The API Security Top 10 of 2023 maps
// few CWEs; its rows follow the references at the end of its pages.
var categories = map[string][]int{
	"A01:2021": {22, 23, 35, 59, 200, 201, 219, 264, 275, 276, 284, 285, 352, 359, 377, 402, 425, 441, 497,
		538, 540, 548, 552, 566, 601, 639, 651, 668, 706, 862, 863, 913, 922, 1275},
	"A02:2021": {259, 261, 296, 310, 319, 321, 322, 323, 324, 325, 326, 327, 328, 329, 330, 331, 335, 336, 337,
		338, 340, 347, 523, 720, 757, 759, 760, 780, 818, 916},
	"A03:2021": {20, 74, 75, 77, 78, 79, 80, 83, 87, 88, 89, 90, 91, 93, 94, 95, 96, 97, 98, 99, 100, 113, 116,
		138, 184, 470, 471, 564, 610, 643, 644, 652, 917},
	"A04:2021": {73, 183, 209, 213, 235, 256, 257, 266, 269, 280, 311, 312, 313, 316, 419, 430, 434, 444, 451,
		472, 501, 522, 525, 539, 579, 598, 602, 642, 646, 650, 653, 656, 657, 799, 807, 840, 841, 927, 1021,
		1173},
	"A05:2021": {2, 11, 13, 15, 16, 260, 315, 520, 526, 537, 541, 547, 611, 614, 756, 776, 942, 1004, 1032, 1174},
	"A06:2021": {937, 1035, 1104},
	"A07:2021": {255, 287, 288, 290, 294, 295, 297, 300, 302, 304, 306, 307, 346, 384, 521, 613, 620, 640, 798,
		940, 1216},
	"A08:2021": {345, 353, 426, 494, 502, 565, 784, 829, 830, 915},
	"A09:2021": {117, 223, 532, 778},
	"A10:2021": {918},
	"A01:2025": {22, 23, 36, 59, 61, 65, 200, 201, 219, 276, 281, 282, 283, 284, 285, 352, 359, 377, 379, 402,
		424, 425, 441, 497, 538, 540, 548, 552, 566, 601, 615, 639, 668, 732, 749, 862, 863, 918, 922, 1275},
	"A02:2025": {5, 11, 13, 15, 16, 260, 315, 489, 526, 547, 611, 614, 776, 942, 1004, 1174},
	"A03:2025": {447, 1035, 1104, 1329, 1357, 1395},
	"A04:2025": {261, 296, 319, 320, 321, 322, 323, 324, 325, 326, 327, 328, 329, 330, 331, 332, 334, 335, 336,
		337, 338, 340, 342, 347, 523, 757, 759, 760, 780, 916, 1240, 1241},
	"A05:2025": {20, 74, 76, 77, 78, 79, 80, 83, 86, 88, 89, 90, 91, 93, 94, 95, 96, 97, 98, 99, 103, 104, 112,
		113, 114, 115, 116, 129, 159, 470, 493, 500, 564, 610, 643, 644, 917},
	"A06:2025": {73, 183, 256, 266, 269, 286, 311, 312, 313, 316, 362, 382, 419, 434, 436, 444, 451, 454, 472,
		501, 522, 525, 539, 598, 602, 628, 642, 646, 653, 656, 657, 676, 693, 799, 807, 841, 1021, 1022, 1125},
	"A07:2025": {258, 259, 287, 288, 289, 290, 291, 293, 294, 295, 297, 298, 299, 300, 302, 303, 304, 305, 306,
		307, 308, 309, 346, 350, 384, 521, 613, 620, 640, 798, 940, 941, 1390, 1391, 1392, 1393},
	"A08:2025": {345, 353, 426, 427, 494, 502, 506, 509, 565, 784, 829, 830, 915, 926},
	"A09:2025": {117, 221, 223, 532, 778},
	"A10:2025": {209, 215, 234, 235, 248, 252, 274, 280, 369, 390, 391, 394, 396, 397, 460, 476, 478, 484, 550,
		636, 703, 754, 755, 756},

	"API1:2023": {639},
	"API2:2023": {287, 306, 307, 384, 613, 640, 1390},
	"API3:2023": {213, 915},
	"API4:2023": {400, 770, 799},
	"API5:2023": {285, 862, 863},
	"API7:2023": {918},
	"API8:2023": {16, 209, 319, 942},
	"API9:2023": {1059},
}

// alike gives weaknesses that the lists leave out the category of a weakness that is of the
// same kind.
var alike = map[string]string{
	"CWE-158": "CWE-74", "CWE-943": "CWE-74", "CWE-1336": "CWE-94", "CWE-1321": "CWE-915", // injection; mass assignment
	"CWE-770": "CWE-799", "CWE-789": "CWE-799", // interaction without limit
	"CWE-1391": "CWE-798", "CWE-1390": "CWE-287", // authentication
}

// asvsByCWE gives the requirements of OWASP ASVS 5.0.0 that a weakness violates. ASVS 5.0
// names no CWEs; the table was made by reading its requirements.
var asvsByCWE = map[string][]string{
	"CWE-20":   {"V2.2.1"},
	"CWE-22":   {"V5.3.2"},
	"CWE-23":   {"V5.3.2"},
	"CWE-36":   {"V5.3.2"},
	"CWE-73":   {"V5.3.2"},
	"CWE-74":   {"V1.3.3"},
	"CWE-77":   {"V1.2.5"},
	"CWE-78":   {"V1.2.5"},
	"CWE-79":   {"V1.2.1", "V1.2.3"},
	"CWE-88":   {"V1.2.5"},
	"CWE-89":   {"V1.2.4"},
	"CWE-90":   {"V1.2.6"},
	"CWE-94":   {"V1.3.2"},
	"CWE-95":   {"V1.3.2"},
	"CWE-98":   {"V5.3.2"},
	"CWE-113":  {"V1.3.3"},
	"CWE-116":  {"V1.2.1"},
	"CWE-117":  {"V16.4.1"},
	"CWE-119":  {"V1.4.1"},
	"CWE-120":  {"V1.4.1"},
	"CWE-125":  {"V1.4.1"},
	"CWE-134":  {"V1.3.10"},
	"CWE-190":  {"V1.4.2"},
	"CWE-200":  {"V14.2.6"},
	"CWE-208":  {"V11.2.4"},
	"CWE-209":  {"V16.5.1"},
	"CWE-213":  {"V15.3.1"},
	"CWE-256":  {"V11.4.2"},
	"CWE-261":  {"V11.4.2"},
	"CWE-285":  {"V8.2.1"},
	"CWE-287":  {"V6.3.4"},
	"CWE-290":  {"V4.1.3"},
	"CWE-295":  {"V12.3.2"},
	"CWE-306":  {"V8.2.1"},
	"CWE-307":  {"V6.3.1"},
	"CWE-311":  {"V14.2.4"},
	"CWE-312":  {"V14.2.4"},
	"CWE-319":  {"V12.2.1", "V12.3.1"},
	"CWE-321":  {"V13.3.1"},
	"CWE-323":  {"V11.3.4"},
	"CWE-326":  {"V11.2.3"},
	"CWE-327":  {"V11.3.1", "V11.3.2"},
	"CWE-328":  {"V11.4.1"},
	"CWE-329":  {"V11.3.4"},
	"CWE-330":  {"V11.5.1"},
	"CWE-338":  {"V11.5.1"},
	"CWE-340":  {"V11.5.1"},
	"CWE-346":  {"V3.5.5"},
	"CWE-347":  {"V9.1.1"},
	"CWE-352":  {"V3.5.1"},
	"CWE-362":  {"V15.4.1"},
	"CWE-367":  {"V15.4.2"},
	"CWE-384":  {"V7.2.4"},
	"CWE-400":  {"V15.2.2"},
	"CWE-409":  {"V5.2.3"},
	"CWE-415":  {"V1.4.3"},
	"CWE-416":  {"V1.4.3"},
	"CWE-425":  {"V8.2.1"},
	"CWE-434":  {"V5.2.2", "V5.3.1"},
	"CWE-444":  {"V4.2.1"},
	"CWE-470":  {"V1.3.2"},
	"CWE-489":  {"V13.4.2"},
	"CWE-497":  {"V13.4.6"},
	"CWE-502":  {"V1.5.2"},
	"CWE-521":  {"V6.2.1"},
	"CWE-522":  {"V13.3.1"},
	"CWE-525":  {"V14.3.2"},
	"CWE-527":  {"V13.4.1"},
	"CWE-530":  {"V13.4.7"},
	"CWE-532":  {"V16.2.5"},
	"CWE-548":  {"V13.4.3"},
	"CWE-565":  {"V7.2.1"},
	"CWE-598":  {"V14.2.1"},
	"CWE-601":  {"V3.7.2"},
	"CWE-602":  {"V2.2.2"},
	"CWE-611":  {"V1.5.1"},
	"CWE-613":  {"V7.3.2", "V7.4.1"},
	"CWE-614":  {"V3.3.1"},
	"CWE-620":  {"V6.2.3"},
	"CWE-639":  {"V8.2.2"},
	"CWE-640":  {"V6.4.3"},
	"CWE-643":  {"V1.2.7"},
	"CWE-650":  {"V3.5.3"},
	"CWE-703":  {"V16.5.3"},
	"CWE-757":  {"V12.1.1"},
	"CWE-770":  {"V2.4.1", "V15.2.2"},
	"CWE-776":  {"V1.5.1"},
	"CWE-778":  {"V16.3.3"},
	"CWE-787":  {"V1.4.1"},
	"CWE-789":  {"V15.2.2"},
	"CWE-798":  {"V13.3.1"},
	"CWE-799":  {"V2.4.1"},
	"CWE-829":  {"V3.6.1"},
	"CWE-862":  {"V8.2.1", "V8.2.2"},
	"CWE-863":  {"V8.2.1", "V8.2.2"},
	"CWE-915":  {"V15.3.3"},
	"CWE-916":  {"V11.4.2"},
	"CWE-917":  {"V1.3.2"},
	"CWE-918":  {"V1.3.6"},
	"CWE-922":  {"V14.3.3"},
	"CWE-940":  {"V3.5.5"},
	"CWE-942":  {"V3.4.2"},
	"CWE-943":  {"V1.2.4"},
	"CWE-1004": {"V3.3.4"},
	"CWE-1021": {"V3.4.6"},
	"CWE-1104": {"V15.2.1"},
	"CWE-1204": {"V11.3.4"},
	"CWE-1275": {"V3.3.2"},
	"CWE-1321": {"V15.3.6"},
	"CWE-1333": {"V1.3.12"},
	"CWE-1336": {"V1.3.7"},
	"CWE-1357": {"V15.2.4"},
	"CWE-1390": {"V6.3.4"},
	"CWE-1395": {"V15.2.1"},
}
