//! A TCP proxy that cuts connections when it is told to.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    sync::broadcast,
    time::Instant,
};

pub struct Proxy {
    pub port: u16,
    cuts: broadcast::Sender<()>,
    cut: Arc<AtomicU64>,
}

impl Proxy {
    /// In front of a server on this machine.
    pub async fn before(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let port = listener.local_addr().expect("its number").port();
        let (cuts, cut) = (broadcast::Sender::new(1), Arc::new(AtomicU64::new(0)));
        let (sender, counter) = (cuts.clone(), Arc::clone(&cut));
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (mut cuts, counter) = (sender.subscribe(), Arc::clone(&counter));
                tokio::spawn(async move {
                    let Ok(mut server) = TcpStream::connect(("127.0.0.1", server)).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        _ = cuts.recv() => {
                            counter.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        Self { port, cuts, cut }
    }

    /// The same, and what comes back from the server comes later by so much, piece by piece.
    pub async fn slow_before(server: u16, later: Duration) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let port = listener.local_addr().expect("its number").port();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await else { return };
                    let (mut from_client, mut to_client) = client.into_split();
                    let (mut from_server, mut to_server) = server.into_split();
                    let asked = tokio::io::copy(&mut from_client, &mut to_server);
                    let answered = async {
                        let mut piece = vec![0; 64 * 1024];
                        while let Ok(length @ 1..) = from_server.read(&mut piece).await {
                            let due = Instant::now() + later;
                            tokio::time::sleep_until(due).await;
                            if to_client.write_all(&piece[..length]).await.is_err() {
                                return;
                            }
                        }
                    };
                    tokio::select! {
                        _ = asked => {}
                        () = answered => {}
                    }
                });
            }
        });
        Self { port, cuts: broadcast::Sender::new(1), cut: Arc::new(AtomicU64::new(0)) }
    }

    /// Cuts every connection there is.
    pub fn cut(&self) {
        // Nobody may be connected; then nothing is cut.
        let _ = self.cuts.send(());
    }

    /// How many connections were cut.
    pub fn count(&self) -> u64 {
        self.cut.load(Ordering::SeqCst)
    }
}
