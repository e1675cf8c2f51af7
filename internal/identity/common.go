package identity

import "strings"

// This file lists what attackers try first. Passwords shorter than minPassword
// are refused anyway, so the words matter together with what people put around
// them: Password2026!, adminadmin123, qwertyuiop12.

// commonWords are refused alone, repeated, and with digits and signs around
// them.
var commonWords = setOf(`
	password passwort passwd passphrase motdepasse contrasena contraseña wachtwoord senha parola
	mypassword yourpassword thepassword newpassword oldpassword changeme changethis changeit
	pleasechange letmein letmeinnow letmeinplease welcome welcomeback welcometo welcomehome
	administrator administration admin adminadmin superuser superadmin rootroot toor sysadmin webmaster
	qwerty qwertyuiop qwertyuiopasdf qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm qwertz qwertzuiop
	azerty azertyuiop asdfgh asdfghjkl asdfghjklqwertyuiop zxcvbnm qazwsx qazwsxedc qazwsxedcrfv qweasd qweasdzxc
	abcdef abcdefg abcdefgh abcdefghi abcdefghij abcdefghijkl abcdefghijklmnop abcabc abcd
	iloveyou iloveyousomuch iloveu loveyou lovelove sunshine princess princesa football baseball basketball
	superman batman spiderman starwars pokemon dragon monkey shadow master hunter michael jennifer jessica
	charlie freedom whatever trustno trustnoone computer internet security secret topsecret supersecret mysecret
	default temporary temp test testtest testing tester guest user username login signin signup account
	company corporate business summer winter spring autumn january february march april june july august
	september october november december monday tuesday wednesday thursday friday saturday sunday
	merlon merlonmerlon merlonadmin correcthorsebatterystaple correct-horse-battery-staple
	nothing nothinghere hello helloworld hellohello goodmorning liverpool chelsea arsenal barcelona manchester
	samsung google facebook linkedin microsoft apple android chocolate butterfly flower elephant
`)

// commonPasswords are refused as they stand.
var commonPasswords = setOf(`
	123456789012 1234567890123 12345678901234 123456123456 123123123123 112233445566 010203040506
	1q2w3e4r5t6y 1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i 1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qazxsw23edc zaq12wsxcde3
	q1w2e3r4t5y6 q1w2e3r4t5y6u7i8 qwerty123456 qwerty1234567 qwerty12345678 123456qwerty 1234qwerasdf 1234qwer1234
	a1b2c3d4e5f6 abc123abc123 abcd1234abcd abcd12345678 aa1234567890 asdf1234asdf qwer1234qwer zxcv1234zxcv
	passw0rd1234 p@ssw0rd1234 p@ssword1234 pass12345678 pass1234pass admin1234567 admin12345678 admin123admin
	123qweasdzxc 1234567890qwertyuiop q1w2e3r4t5y6u7i8o9p0 987654321098 098765432109 147258369147 159753159753
	101010101010 121212121212 131313131313 696969696969 789456123000 741852963000 zxcvbnm12345 zaq1zaq1zaq1
`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
