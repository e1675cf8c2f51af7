import io.jsonwebtoken.*;

class Tokens {
    Object read(String token, byte[] key) {
        // ok: unsigned-jwt
        return Jwts.parser().setSigningKey(key).parseClaimsJws(token).getBody();
    }
}
