//! A TCP proxy that is slow, cuts connections, or lets them fall silent, as it is told to.

use std::{
    collections::BTreeSet,
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::broadcast,
};

pub struct Proxy {
    pub port: u16,
    wishes: broadcast::Sender<Wish>,
    cut: Arc<AtomicU64>,
    ways: Arc<Mutex<BTreeSet<String>>>,
    later: Later,
}

/// How much later answers come, in milliseconds.
type Later = Arc<AtomicU64>;

#[derive(Clone, Copy)]
enum Wish {
    Cut,
    Silence,
}

impl Proxy {
    /// In front of a server on this machine.
    pub async fn before(server: u16) -> Self {
        Self::slow_before(server, Duration::ZERO).await
    }

    /// The same, and what comes back from the server comes later by so much, piece by piece.
    pub async fn slow_before(server: u16, later: Duration) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let port = listener.local_addr().expect("its number").port();
        let proxy = Self {
            port,
            wishes: broadcast::Sender::new(1),
            cut: Arc::default(),
            ways: Arc::default(),
            later: Arc::default(),
        };
        proxy.slow_down(later);
        let (sender, cut, ways) = (proxy.wishes.clone(), Arc::clone(&proxy.cut), Arc::clone(&proxy.ways));
        let later = Arc::clone(&proxy.later);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (mut wishes, cut, ways) = (sender.subscribe(), Arc::clone(&cut), Arc::clone(&ways));
                let later = Arc::clone(&later);
                tokio::spawn(async move {
                    let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await else { return };
                    let way = server.local_addr().expect("its address").to_string();
                    ways.lock().unwrap_or_else(PoisonError::into_inner).insert(way);
                    let passing = pass(client, server, later);
                    tokio::pin!(passing);
                    let wish = tokio::select! {
                        _ = &mut passing => return,
                        wish = wishes.recv() => wish,
                    };
                    match wish {
                        Ok(Wish::Silence) => std::future::pending::<()>().await,
                        Ok(Wish::Cut) | Err(_) => drop(cut.fetch_add(1, Ordering::SeqCst)),
                    }
                });
            }
        });
        proxy
    }

    /// Cuts every connection there is.
    pub fn cut(&self) {
        self.wish(Wish::Cut);
    }

    /// Nothing passes any more through the connections there are, and nobody is told. New ones are as they should be.
    pub fn silence(&self) {
        self.wish(Wish::Silence);
    }

    /// From now on, what comes back from the server comes later by so much.
    pub fn slow_down(&self, later: Duration) {
        self.later.store(later.as_millis() as u64, Ordering::SeqCst);
    }

    fn wish(&self, wish: Wish) {
        // Nobody may be connected; then nothing happens.
        let _ = self.wishes.send(wish);
    }

    /// How many connections were cut.
    pub fn count(&self) -> u64 {
        self.cut.load(Ordering::SeqCst)
    }

    /// The addresses by which the server knows those who came this way.
    pub fn ways(&self) -> BTreeSet<String> {
        self.ways.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Both ways until one of them ends.
async fn pass(mut client: TcpStream, mut server: TcpStream, later: Later) -> io::Result<()> {
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let answered = async {
        let mut piece = vec![0; 64 * 1024];
        while let length @ 1.. = from_server.read(&mut piece).await? {
            let millis = later.load(Ordering::SeqCst);
            if millis > 0 {
                tokio::time::sleep(Duration::from_millis(millis)).await;
            }
            to_client.write_all(&piece[..length]).await?;
        }
        Ok(())
    };
    tokio::select! {
        asked = tokio::io::copy(&mut from_client, &mut to_server) => asked.map(drop),
        answered = answered => answered,
    }
}
