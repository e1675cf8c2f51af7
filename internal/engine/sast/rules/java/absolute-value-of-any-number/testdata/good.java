class Shards {
    int shard(String name, int count) {
        // ok: absolute-value-of-any-number
        return Math.floorMod(name.hashCode(), count);
    }
}
