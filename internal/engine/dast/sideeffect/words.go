package sideeffect

import (
	"strings"
	"unicode"

	"merlon/internal/lazyregexp"
)

// This file has the words by which operations say what they do, in small letters and
// without accents: English, German, French, Spanish, Italian, Portuguese.

// wordSet makes a set of the words of a text.
func wordSet(text string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		out[w] = true
	}
	return out
}

var (
	// asking are words of operations that only read, although they are sent like others.
	asking = wordSet(`search find query filter lookup list get view show preview validate check verify calculate calc compute convert export translate compare count autocomplete suggest
		suche suchen finden anzeigen vorschau prufen pruefen berechnen filtern vergleichen
		recherche rechercher chercher trouver afficher apercu verifier calculer filtrer
		buscar busqueda encontrar mostrar vista previa comprobar calcular filtrar
		cerca cercare ricerca trova mostra anteprima verifica calcola filtra
		procurar pesquisar pesquisa exibir visualizar verificar`)
	// signIn are words of operations that sign in.
	signIn = wordSet(`login signin logon log-in sign-in authenticate auth oauth oauth2 saml openid session sessions
		anmelden anmeldung einloggen connexion connecter acceder entrar iniciarsesion accedi accesso entra`)
	// register are words of operations by which somebody makes an account for himself.
	register = wordSet(`register registration signup enroll enrol join
		registrieren registrierung inscription inscrire registrarse registro registrati registrazione iscriviti cadastro cadastrar registrar`)
	// making are words of operations that make something.
	making = wordSet(`create new add insert make compose comment comments reply post write upload append submit
		anlegen erstellen neu neue neuer neues hinzufugen hinzufuegen kommentar kommentieren antworten schreiben hochladen
		creer nouveau nouvelle ajouter ajout commenter commentaire repondre ecrire televerser
		crear nuevo nueva anadir agregar comentar comentario responder escribir subir
		crea nuovo nuova aggiungi commenta commento rispondi scrivi carica
		criar novo nova adicionar escrever enviararquivo`)
	money = wordSet(`transfer transfers pay payment payments payout payouts checkout purchase purchases buy order orders withdraw withdrawal deposit donate donation refund topup recharge bill bills billing charge wallet subscriptionplan
		uberweisen ueberweisen uberweisung ueberweisung bezahlen zahlen zahlung bestellen bestellung kaufen kasse einkauf spenden
		payer paiement virement commander commande acheter achat don
		pagar pago pagos transferir transferencia comprar compra pedido pedidos donar
		pagare paga pagamento bonifico trasferire trasferimento comprare acquista acquisto ordina ordine ordini
		pagamentos encomenda encomendar transferencias doar`)
	sending = wordSet(`send resend invite invites invitation invitations publish unpublish broadcast notify share sms sendmail mailto newsletter webhook webhooks email mail forward announce tweet
		senden versenden einladen einladung veroffentlichen veroeffentlichen benachrichtigen teilen weiterleiten
		envoyer inviter publier partager notifier transferermail
		enviar invitar invitacion publicar compartir notificar reenviar
		invia invita invito pubblica condividi notifica inoltra
		convidar convite compartilhar partilhar`)
	settings = wordSet(`setting settings preference preferences prefs config configs configure configuration option options profile profiles customize theme themes plugin plugins module modules extension extensions
		addon addons integration integrations notification notifications appearance locale language timezone smtp proxy maintenance cron scheduler backup backups feature features flags avatar picture
		einstellung einstellungen konfiguration konfigurieren optionen profil sprache erscheinungsbild erweiterung erweiterungen benachrichtigungen
		parametre parametres reglage reglages preferencias configurer langue greffon greffons
		ajuste ajustes configuracion configurar opciones perfil idioma complementos notificaciones
		impostazione impostazioni preferenze configura configurazione opzioni profilo lingua notifiche estensioni
		definicoes configuracoes configuracao opcoes aparencia notificacoes extensoes`)
	// altering are words of operations that change what is there.
	altering = wordSet(`update edit modify change rename move merge replace overwrite toggle enable disable activate deactivate switch lock unlock block unblock ban unban approve reject assign unassign pin unpin archive unarchive
		restore rollback revert sync refresh mark unmark star unstar reorder upgrade install uninstall migrate start stop restart pause resume cancel close reopen vote like unlike follow unfollow watch unwatch regenerate reset clear
		rotate apply promote demote complete finish read unread flag unflag hide unhide import favorite unfavorite favourite bookmark save-changes visibility status state flush purge empty truncate drop kill execute alter
		aktualisieren andern aendern bearbeiten umbenennen verschieben ersetzen aktivieren deaktivieren einschalten ausschalten sperren entsperren genehmigen ablehnen zuweisen archivieren wiederherstellen ubernehmen uebernehmen markieren leeren
		modifier changer renommer deplacer remplacer activer desactiver verrouiller bloquer approuver rejeter archiver restaurer appliquer maj miseajour vider editer
		actualizar modificar cambiar renombrar mover reemplazar activar desactivar bloquear desbloquear aprobar rechazar archivar restaurar aplicar editar vaciar
		aggiorna modifica cambia rinomina sposta sostituisci attiva disattiva blocca sblocca approva rifiuta archivia ripristina applica svuota
		atualizar alterar mudar renomear substituir ativar desativar aprovar rejeitar arquivar esvaziar`)
	accounts = wordSet(`password passwords passwd passphrase user users account accounts role roles permission permissions apikey apikeys token tokens credential credentials 2fa mfa otp totp webauthn passkey passkeys member members sso ldap impersonate secret secrets sshkey keys
		passwort kennwort benutzer nutzer konto konten rolle rollen rechte berechtigung berechtigungen mitglied mitglieder
		motdepasse utilisateur utilisateurs compte comptes droits membre membres
		contrasena clave usuario usuarios cuenta cuentas rol permiso permisos miembro
		utente utenti ruolo ruoli permesso permessi membro
		senha utilizador utilizadores conta contas papel permissao permissoes`)
	// links are words of links that change something. Words of pages that only show a form,
	// such as edit and new, are not among them.
	links = wordSet(`delete remove destroy erase purge wipe truncate trash drop enable disable activate deactivate toggle approve unapprove reject revoke publish unpublish archive unarchive pin unpin revert rollback vote upvote downvote
		like unlike follow unfollow watch unwatch subscribe unsubscribe install uninstall reindex rebuild flush resend invite markread markasread unread vacuum optimize
		visibility sync restart shutdown stop kill
		star unstar favorite unfavorite favourite unfavourite hide unhide lock unlock block unblock ban unban mute unmute accept decline
		claim unclaim assign unassign regenerate restore mark unmark
		loschen loeschen entfernen aktivieren deaktivieren supprimer effacer activer desactiver eliminar borrar activar desactivar elimina rimuovi cancella attiva disattiva excluir remover apagar ativar desativar`)
	// removing are words of parameters and buttons that remove what they name, of a request that
	// should change nothing.
	removing = wordSet(`delete deletes remove removes destroy erase purge
		loschen loeschen entfernen supprimer effacer eliminar borrar elimina rimuovi excluir remover apagar`)
	// saving are words of buttons that store what a form shows.
	saving = wordSet(`save store
		speichern sichern enregistrer sauvegarder guardar grabar salva salvare salvar gravar`)
	// structure are words of what a list or table consists of: to add one changes it.
	structure = wordSet(`column columns trigger triggers constraint constraints
		spalte spalten colonne colonnes columna columnas colonna coluna colunas`)
	// administering are words of folders in which administrators decide how the application works.
	administering = wordSet(`admin administration administrator administer manage management manager
		verwaltung administracion administrador amministrazione administracao gerenciar gestion gestione gestao`)
	// software are fields that name software to install.
	software = wordSet(`module package plugin extension addon`)
	// rights are fields that say what somebody may do, without marks.
	rights = wordSet(`role roles roleid isadmin admin issuperuser superuser isstaff staff permission permissions privileges isowner accesslevel usertype`)
	// tokens are parameters of links that protect what changes something.
	tokens = wordSet(`token csrf csrftoken csrf_token _csrf _token sectok _wpnonce nonce xsrf authenticity_token sesskey formtoken form_token csrfmiddlewaretoken`)
	// files are endings of what does nothing.
	files    = wordSet(`.css .js .mjs .map .png .jpg .jpeg .gif .svg .ico .woff .woff2 .ttf .webp .txt .xml .pdf .md`)
	versions = wordSet(`api v1 v2 v3 v4 v5 rest json index.php admin wp-admin app web public`)
	forgery  = lazyregexp.New(`(?i)token|csrf|xsrf|nonce|authenticity|sectok|sesskey|formkey|form_key`)
)

// plainLetters are letters without their accents.
var plainLetters = strings.NewReplacer("ä", "a", "ö", "o", "ü", "u", "ß", "ss", "à", "a", "á", "a", "â", "a", "ã", "a",
	"ç", "c", "è", "e", "é", "e", "ê", "e", "ë", "e",
	"ì", "i", "í", "i", "î", "i", "ï", "i", "ñ", "n", "ò", "o", "ó", "o", "ô", "o", "õ", "o", "ù", "u", "ú", "u", "û",
	"u", "œ", "oe")

// pairs are two words that mean one thing.
var pairs = map[string]string{"log in": "login", "log on": "logon", "sign in": "signin", "sign up": "signup",
	"api key": "apikey", "api keys": "apikeys", "check out": "checkout", "mark read": "markread",
	"mot de": "motdepasse", "top up": "topup", "two factor": "2fa", "ssh key": "sshkey", "ssh keys": "sshkey",
	"mise a": "miseajour", "iniciar sesion": "iniciarsesion", "send mail": "sendmail"}

// maxWords bounds the words that are read of one text.
const maxWords = 12

// wordsOf takes a text apart: at marks, and where a capital follows a small letter.
func wordsOf(text string) []string {
	if len(text) > 200 {
		text = text[:200]
	}
	var out []string
	var b strings.Builder
	end := func() {
		if b.Len() > 0 && len(out) < maxWords {
			out = append(out, plainLetters.Replace(strings.ToLower(b.String())))
		}
		b.Reset()
	}
	small := false
	for _, c := range text {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			end()
			small = false
			continue
		}
		if unicode.IsUpper(c) && small {
			end()
		}
		small = unicode.IsLower(c)
		b.WriteRune(c)
	}
	end()
	for i := 1; i < len(out); i++ {
		if joined := pairs[out[i-1]+" "+out[i]]; joined != "" {
			out = append(out, joined)
		}
	}
	return out
}
