//! Saved connections: their passwords are in the keyring of the desktop and in no file, and come back from there.

use std::{fs, path::Path};

use protocol::{ClusterConnection, Passwords, ProblemCode, Request, Response};
use runeglass_tests::{clustered::Servers, keyring::with_keyring, watched::Workers};
use runtime::Clock;
use session::{Keep, Options, Reach, Session};

const AMQP: &str = "r4bbit/s3cret";
const REDIS: &str = "r3dis+s3cret";
/// Says which part this process plays, and where the servers are.
const PART: &str = "RUNEGLASS_KEYRING_PART";

async fn session(folder: &Path) -> Session {
    let options = Options {
        keep: Keep::At(folder.join("store.db")),
        folder: Some(folder.join("workflows")),
        clock: Clock::system(),
        recover: false,
        reach: Reach::default(),
    };
    Session::open(options).await.unwrap_or_else(|problem| panic!("{problem:?}"))
}

fn connection(amqp: u16, redis: u16) -> ClusterConnection {
    ClusterConnection {
        name: "shop".to_owned(),
        colour: "red".to_owned(),
        amqp: format!("amqp://reader@127.0.0.1:{amqp}/%2f"),
        redis: format!("redis://observer@127.0.0.1:{redis}/"),
        prefix: "kept.".to_owned(),
        dialect: None,
    }
}

/// The name of this test, as its binary knows it.
const NAME: &str = "passwords_come_back_from_a_keyring";

#[tokio::test(flavor = "multi_thread")]
async fn passwords_come_back_from_a_keyring() {
    // Each part is a process of its own beside the keyring: nothing but the keyring remembers.
    if let Ok(part) = std::env::var(PART) {
        return play(&part).await;
    }
    let servers = Servers::start();
    let workers = Workers::start(&servers, "kept.").await;
    servers.rabbit.control(&["add_user", "reader", AMQP]);
    let (own, read) = (r"^amq\.gen.*$", r"^(kept\.workflows|amq\.gen.*)$");
    servers.rabbit.control(&["set_permissions", "-p", "/", "reader", own, own, read]);
    let client = redis::Client::open(servers.redis.url.as_str()).expect("an address");
    let mut redis = client.get_multiplexed_async_connection().await.expect("connects");
    let password = format!(">{REDIS}");
    let rights =
        ["on", &password, "resetchannels", "~*", "-@all", "+@connection", "+@read", "+info", "+time"];
    let made = redis::cmd("ACL").arg("SETUSER").arg("observer").arg(&rights).exec_async(&mut redis).await;
    made.expect("made");

    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("workflows")).expect("made");
    let (amqp, redis) = (servers.rabbit.port, servers.redis.port);
    let this = std::env::current_exe().expect("told");
    let part = |name: &str| {
        format!("{PART}='{name} {amqp} {redis}' {} --exact {NAME} --nocapture\n", this.display())
    };
    let parts = ["save", "attach", "elsewhere", "move", "elsewhere", "save", "forget", "attach-in-vain"];
    let script = parts.map(part).concat();
    let ran = with_keyring(folder.path(), &script);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    for said in ["saved", "attached", "told nobody else", "moved", "forgotten", "refused"] {
        assert!(ran.stdout.contains(said), "{said}: {}{}", ran.stdout, ran.stderr);
    }
    let mut files = 0;
    search(folder.path(), &mut files);
    assert!(files >= 2, "there was something to search");
    workers.close().await;
}

fn elsewhere(connection: ClusterConnection) -> ClusterConnection {
    let at = |address: String| address.replace("127.0.0.1", "localhost");
    ClusterConnection { amqp: at(connection.amqp), redis: at(connection.redis), ..connection }
}

/// What happens beside the keyring.
async fn play(part: &str) {
    let words: Vec<&str> = part.split(' ').collect();
    let [what, amqp, redis] = words[..] else { panic!("{part}") };
    let connection = connection(amqp.parse().expect("a port"), redis.parse().expect("a port"));
    let folder = std::env::current_dir().expect("told");
    let session = session(&folder).await;
    let passwords = Passwords { amqp: Some(AMQP.to_owned()), redis: Some(REDIS.to_owned()) };
    let attach =
        Request::Attach { connection: connection.clone(), passwords: Passwords::default(), record: false };
    match what {
        "save" => {
            session.call(Request::SaveConnection { connection, passwords }).await.expect("kept");
            println!("saved");
        }
        "attach" => {
            let Ok(Response::Connections(known)) = session.call(Request::Connections).await else {
                panic!("a list")
            };
            assert_eq!(known, [connection]);
            // Nobody types a password.
            let view = session.call(attach).await.expect("attached");
            assert!(!format!("{view:?}").contains("s3cret"), "it is shown to nobody");
            println!("attached");
        }
        // The same broker by another name: whoever answers there was not given the password.
        "elsewhere" => {
            let connection = elsewhere(connection);
            let test = Request::TestConnection { connection, passwords: Passwords::default() };
            let Ok(Response::ConnectionSteps(steps)) = session.call(test).await else { panic!("steps") };
            let refused = steps[0].problem.as_ref().expect("RabbitMQ was told no password");
            assert!(refused.message.contains("does not let this user in"), "{refused:?}");
            println!("told nobody else");
        }
        // Nobody types a password: the old one is not for the new place.
        "move" => {
            let (connection, passwords) = (elsewhere(connection), Passwords::default());
            session.call(Request::SaveConnection { connection, passwords }).await.expect("kept");
            println!("moved");
        }
        "forget" => {
            session.call(Request::ForgetConnection { name: connection.name }).await.expect("forgotten");
            println!("forgotten");
        }
        "attach-in-vain" => {
            let refused = session.call(attach).await.expect_err("the password is gone with the connection");
            assert!(refused.message.contains("does not let this user in"), "{refused:?}");
            println!("refused");
        }
        other => panic!("{other}"),
    }
    session.close().await.expect("closed");
}

/// No file holds a password; what the keyring itself keeps is encrypted.
fn search(folder: &Path, files: &mut usize) {
    for entry in fs::read_dir(folder).expect("the folder").flatten() {
        if entry.path().is_dir() {
            search(&entry.path(), files);
            continue;
        }
        if !entry.path().is_file() {
            continue;
        }
        *files += 1;
        let content = fs::read(entry.path()).expect("readable");
        for secret in [AMQP, REDIS] {
            let found = content.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{} holds a password", entry.path().display());
        }
    }
}

#[test]
fn without_a_keyring_the_connection_is_kept_and_the_password_is_not() {
    // A process of its own: a bus that is there would be asked.
    if std::env::var(PART).is_ok() {
        return keyless();
    }
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("workflows")).expect("made");
    let mut command = std::process::Command::new(std::env::current_exe().expect("told"));
    command.args([
        "--exact",
        "without_a_keyring_the_connection_is_kept_and_the_password_is_not",
        "--nocapture",
    ]);
    command.env(PART, "keyless").env_remove("DBUS_SESSION_BUS_ADDRESS").current_dir(folder.path());
    for variable in ["HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"] {
        command.env(variable, folder.path());
    }
    let ran = runeglass_tests::run(&mut command);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("told kindly"), "{}{}", ran.stdout, ran.stderr);
    search(folder.path(), &mut 0);
}

fn keyless() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let session = session(&std::env::current_dir().expect("told")).await;
        let connection = connection(1, 2);
        let passwords = Passwords { amqp: Some(AMQP.to_owned()), redis: None };
        let save = Request::SaveConnection { connection: connection.clone(), passwords };
        let problem = session.call(save).await.expect_err("there is no keyring");
        assert_eq!(problem.code, ProblemCode::Infrastructure);
        assert!(problem.message.contains("the connection is kept, its password is not"), "{problem:?}");
        assert!(problem.message.contains("keyring") && !problem.message.contains(AMQP), "{problem:?}");
        assert!(problem.hint.contains("give the password when you attach"), "{problem:?}");
        let Ok(Response::Connections(known)) = session.call(Request::Connections).await else {
            panic!("a list")
        };
        assert_eq!(known, [connection]);
        session.close().await.expect("closed");
    });
    println!("told kindly");
}
