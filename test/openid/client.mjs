// Runs one version of openid-client through the flows that an ordinary web
// application uses, with the client's own defaults. The first argument is 5 or 6;
// the environment names the provider and the application. The test plays the
// browser: it reads an address per line from standard output and writes the address
// of the redirect back to standard input. The last line is a JSON report.
import { createInterface } from 'node:readline'

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, LOGOUT_URI } = process.env
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

async function browse(url) {
  process.stdout.write(`open ${url}\n`)
  return (await lines.next()).value
}

const flows = {
  async 5() {
    const { Issuer, generators } = await import('openid-client-5')
    const issuer = await Issuer.discover(ISSUER)
    const client = new issuer.Client({
      client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [REDIRECT_URI],
      post_logout_redirect_uris: [LOGOUT_URI], response_types: ['code'],
    })
    async function signIn(parameters) {
      const [state, nonce, verifier] = [generators.state(), generators.nonce(), generators.codeVerifier()]
      const back = await browse(client.authorizationUrl({
        ...parameters, state, nonce, code_challenge: generators.codeChallenge(verifier), code_challenge_method: 'S256',
      }))
      return client.callback(REDIRECT_URI, client.callbackParams(back), { state, nonce, code_verifier: verifier })
    }
    const first = await signIn({ scope: 'openid email offline_access', prompt: 'consent' })
    const silent = await signIn({ scope: 'openid email', prompt: 'none', id_token_hint: first.id_token })
    const renewed = await client.refresh(first.refresh_token)
    const user = await client.userinfo(renewed.access_token)
    const active = await client.introspect(renewed.access_token)
    await client.revoke(renewed.refresh_token)
    const revoked = await client.introspect(renewed.access_token)
    return {
      subject: first.claims().sub, silentSubject: silent.claims().sub, renewedSubject: renewed.claims().sub,
      email: user.email, active: active.active, afterRevocation: revoked.active,
      logout: client.endSessionUrl({ id_token_hint: renewed.id_token, post_logout_redirect_uri: LOGOUT_URI }),
    }
  },

  async 6() {
    const oidc = await import('openid-client-6')
    const config = await oidc.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET)
    async function signIn(parameters) {
      const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()]
      const back = await browse(oidc.buildAuthorizationUrl(config, {
        ...parameters, redirect_uri: REDIRECT_URI, state, nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
      }).href)
      return oidc.authorizationCodeGrant(config, new URL(back), {
        pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true,
      })
    }
    const first = await signIn({ scope: 'openid email offline_access', prompt: 'consent' })
    const silent = await signIn({ scope: 'openid email', prompt: 'none', id_token_hint: first.id_token })
    const renewed = await oidc.refreshTokenGrant(config, first.refresh_token)
    const user = await oidc.fetchUserInfo(config, renewed.access_token, first.claims().sub)
    const active = await oidc.tokenIntrospection(config, renewed.access_token)
    await oidc.tokenRevocation(config, renewed.refresh_token)
    const revoked = await oidc.tokenIntrospection(config, renewed.access_token)
    return {
      subject: first.claims().sub, silentSubject: silent.claims().sub, renewedSubject: renewed.claims().sub,
      email: user.email, active: active.active, afterRevocation: revoked.active,
      logout: oidc.buildEndSessionUrl(config, { id_token_hint: renewed.id_token, post_logout_redirect_uri: LOGOUT_URI }).href,
    }
  },
}

console.log(JSON.stringify(await flows[process.argv[2]]()))
process.exit(0)
