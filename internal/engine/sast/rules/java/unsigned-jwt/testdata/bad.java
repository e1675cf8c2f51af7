import io.jsonwebtoken.*;

class Tokens {
    Object read(String token, byte[] key) {
        // ruleid: unsigned-jwt
        return Jwts.parser().setSigningKey(key).parse(token).getBody();
    }
}
