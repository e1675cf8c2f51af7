package identity

import "strings"

// moreWords are words of common passwords that the lists (common passwords,
// English words, names) lack: other languages, administration, football.
var moreWords = strings.Fields(`
	passwort passwd motdepasse contrasena contraseña wachtwoord senha parola пароль salasana haslo heslo
	hallo hallowelt bonjour soleil hola ichliebedich jetaime teamo amore schatz sonne sommer winter
	changeme changethis letmein trustno welcome welcometo administrator sysadmin webmaster rootroot toor
	qwertz qwertzuiop azerty azertyuiop qazwsx qazwsxedc zaqwsx йцукен йцукенг
	liverpool chelsea arsenal barcelona manchester bayern juventus
	correcthorsebatterystaple merlon
`)
