class Shards {
    int shard(String name, int count) {
        // ruleid: absolute-value-of-any-number
        return Math.abs(name.hashCode()) % count;
    }
}
