fn main() {
    watchbill_shell::run()
}
