//! A TCP proxy that cuts connections, or lets nothing through any more, when it is told to.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::broadcast,
};

pub struct Proxy {
    pub port: u16,
    cuts: broadcast::Sender<()>,
    cut: Arc<AtomicU64>,
    holds: broadcast::Sender<()>,
}

impl Proxy {
    /// In front of a server on this machine.
    pub async fn before(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let port = listener.local_addr().expect("its number").port();
        let (cuts, cut) = (broadcast::Sender::new(1), Arc::new(AtomicU64::new(0)));
        let (sender, counter) = (cuts.clone(), Arc::clone(&cut));
        let holds = broadcast::Sender::new(1);
        let holder = holds.clone();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (mut cuts, counter) = (sender.subscribe(), Arc::clone(&counter));
                let mut holds = holder.subscribe();
                tokio::spawn(async move {
                    let Ok(mut server) = TcpStream::connect(("127.0.0.1", server)).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        _ = cuts.recv() => {
                            counter.fetch_add(1, Ordering::SeqCst);
                        }
                        _ = holds.recv() => std::future::pending().await,
                    }
                });
            }
        });
        Self { port, cuts, cut, holds }
    }

    /// Cuts every connection there is.
    pub fn cut(&self) {
        // Nobody may be connected; then nothing is cut.
        let _ = self.cuts.send(());
    }

    /// From now on nobody who is connected hears an answer, nor that there will be none.
    pub fn hold(&self) {
        // Nobody may be connected; then nothing is held.
        let _ = self.holds.send(());
    }

    /// How many connections were cut.
    pub fn count(&self) -> u64 {
        self.cut.load(Ordering::SeqCst)
    }
}
