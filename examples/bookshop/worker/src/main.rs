use regex::Regex;
use smallvec::SmallVec;

#[tokio::main]
async fn main() {
    let isbn = Regex::new(r"^97[89]-\d{10}$").unwrap();
    let orders: SmallVec<[String; 8]> = std::env::args().skip(1).filter(|a| isbn.is_match(a)).collect();
    println!("{} orders", orders.len());
}
