package credfile

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// This file knows values that a vendor has published for everybody: examples of its manual,
// default keys of its emulator, keys of its test environment. They open nothing that is
// protected. Only their digests are here, so that scanners of others find no secret.

// published are the SHA-256 digests of published values, and who published them where.
var published = map[string]string{
	"797c0ce414586cc8eb6929afe947c720e3e4d351dd070a6fe39f630beaab3054": "GitHub documentation",
	"82e74299544e00738f9c0acb69b1eb348b3e20ffcfabcb34779bd37590fead6c": "GitHub documentation",
	"bc3ae723f57c6b9e3fd80b699fcc420f6074b0b1718039669d22631d508ac0a7": "GitHub documentation",
	"1a5d44a2dca19669d72edf4c4f1c27c4c1ca4b4408fbb17f6ce4ad452d78ddb3": "AWS documentation, access key ID",
	"c6ea27c534f993d31f0aef882e3d200e7b87470c379ae79c8f9b19d3bd363dc9": "AWS documentation, access key ID",
	"78314b11be2e581549ac1c4f616563fad3fdf0c3b71678f6e2299182080e0598": "AWS documentation, secret access key",
	"e21b597ba6b9cafa59d9ebc4d65c0385f5eb3fa56abab2607fa76589ad849a33": "AWS documentation, secret access key",
	"f3213450055e54b121a7b489bf10f6e938ddf1e55b2a63a5b1acb77a636fa282": "Apache Shiro, default remember-me key",
	"eaa6a9190faf5587f487fe5170e377fa97e5efd16fd58aa80587069a2821c013": "Azure Cosmos DB emulator",
	"ed967197261c16a9ed0205f8a5099d81ec98263c1fb47ce1d87f1b93fc199e70": "Azurite, account key of the emulator",
	"578592185588730b9d10b87e2274706a8301a179cdb60fb4263c788e7e679503": "Ganache, account 0",
	"424742fc6538f5e7e01d32ce12784d7a425d342cec188cd00602613843d52946": "Ganache, account 0",
	"8be5d113c0871ce1a122d68a7dff940ab7b09ad8dfcfd9a85aa5c1acc026279e": "Google Authenticator documentation, " +
		"TOTP secret",
	"3a53d0a064baf78cea93be533489094bf896fb7644d9331619ec25b927e7ce27": "Google Authenticator documentation, " +
		"TOTP secret",
	"bc1a50966c9e6486bc4ebf880b51611a2a97fcb8e7a6976e9b81a9e3e8ca0e3c": "Hardhat and Anvil, account 0",
	"60a09e4357868c1e9b801052726d061c370429f723db84523ed58ac354f6eb8a": "Hardhat and Anvil, account 0",
	"8335c55334821eefd4334369ff9c04a8594f161013cf9d87f58802d87297837e": "Hardhat and Anvil, account 1",
	"095101cf732c298a0ce0320b9de704209cdd8640b70d8fdf4e5be51aa2eb272e": "Hardhat and Anvil, account 1",
	"b26ab6529d20ebebb4192256f202984754f785481c64b1a1aed58cac93b3617e": "Hardhat and Anvil, account 2",
	"bb4978fbe7638de8e6ee13d9a59a5fb047beb0f0ee059fe166541b1f96b6af63": "Hardhat and Anvil, account 2",
	"eccdb933c77f3c43342986d9e53646e90ab4a2e71a67b3dcac6e9bb70d9ffc87": "Laravel documentation",
	"063250b5df6d1ff973c2038b5490eb09f32ca613912d5237f3f5c00539eb558b": "Laravel, application key for tests",
	"1bbb9293c38acc5e510d904495845d532df64a9e5996b2ec7c86cc2e2ac33b5a": "MinIO, public playground",
	"df452eef23e8cf2c74af54c0c7419c05a5ec70ef4d5c2eb04082b02af8c55598": "MinIO, public playground",
	"549c9390539efcfa01d2744e82e7da34409a63dd0feaf310f7a6e12551fe7668": "RFC 6238, test vector",
	"eb543dc490df6d053d360d3b66b575d131cbfff6724a40acd4303c2d810f9c70": "RFC 6455",
	"1f5cb9b0015ad374b2b1138188e86b584cef5770aaefb8dae12b49a48979bb9e": "RFC 6455",
	"6c96130f130ab0d6d158397e24d2bcc1c9a5e73ae081f6e983f1c7b545d24a4c": "RFC 6749",
	"00cf4c781dc37003f7c7dd7d4c9a6ef1e0f4c62d9a291aa8bc398774e3fefd32": "RFC 6749",
	"b8e148545b13c78bc74da2f1a7275dd71e56ddece129d7d2f7b3ecc06f7994da": "RFC 6750",
	"d05f6bb1aa2e4ccd9e4a1d22f1edbe119406d3d1aa30261d699b4ff2bf72e59b": "RFC 7617",
	"73f71af093fdf1541b2c376f03436d71d1209d8a181f87d36e53a44b87ac4c4f": "RFC 7617",
	"b1471f544ceeea31333bde7e1ecbaad6eac0d4a749412ad29bd66ef895b81c6b": "Stripe documentation, publishable test key",
	"2cafc0970149a84f3b9e62eaf169f36f59907a3b3e31f7b82e68c69cd27f7326": "Stripe documentation, test key",
	"f2d6ca16515033e5dce14eba840b979d27b5cbae24bb3e5bf484339667f86397": "Stripe documentation, test key",
	"7e8de44ea9ecf6d53415c90f5b249a8591f7abafbf7d65a2c0d855afeca3ec09": "Stripe documentation, test key",
	"31e21581323584d4afda359e269390e506c26d4b22e136708ef71ed44f71837e": "Stripe documentation, test key",
	"a064b502e61d27e94b8717290e5e1b32e36720e9fbdf952ec81a84c07128cb37": "Supabase, local development",
	"1453cea2dc3799e9026e42b3e465e455256d5a149582e4c5b92d4c8d604731a2": "Supabase, local development",
	"0b5dd075ccdd03c42f4edda8e299e6838e2a75d3486a2a8d86940ed1541e9178": "Telegram documentation",
	"731fa294d036e54f19df879bfcd4fe72d967dc6327800c5f74a48414a3f258c9": "Telegram documentation",
	"fb8f35129df87662c650ada12fd614f1b58dce4a37fdd7589ba3a6b9a78c0aae": "Turnstile, secret key for tests",
	"1e3e58656012d861e23deae64f177673d7b86a9c55fe1d5d10b94e3c9755d168": "Turnstile, secret key for tests",
	"841b4f5b0b34e19ada74f47a88831efbb909008ceea4430d61449c1874923f83": "Turnstile, secret key for tests",
	"0fff9ee671b05ea25f58ed9584635fad2558e23c031003fd52d393bff5973fb0": "hCaptcha, secret key for tests",
	"a69c47e0e9deeb992e6a22cd3b0563858333607361cd7907895b79ea084abe44": "hCaptcha, site key for tests",
	"f5e95c9954635b65acab57e6d5ea663eb900f06dc8794a90358f5abb1c77d4e0": "reCAPTCHA, secret key for tests",
	"03b970ed8171d73b58bbc9a5c72e3e4eec28503b56b3bb400a0801857dd45614": "reCAPTCHA, site key for tests",
}

// IsPublished reports whether a vendor has published the value for everybody.
func IsPublished(value string) bool {
	if len(value) < 12 || len(value) > 4096 {
		return false
	}
	sum := sha256.Sum256([]byte(strings.TrimRight(value, "=")))
	_, ok := published[hex.EncodeToString(sum[:])]
	return ok
}
